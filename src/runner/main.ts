import { takeClaim } from './claim.js';
import { ignoreStopSignals, makePipe, readDirFromStdin, runClaimed } from './run.js';

/**
 * The command runner: a process of its own for each command, so that the command outlives the worker.
 * `main.js DIR` runs the command described in DIR; `main.js` alone gets ready and waits for DIR on standard input.
 */
const pipe = makePipe();
const dir = process.argv[2] ?? (await readDirFromStdin());
if (dir !== undefined) {
  ignoreStopSignals();
  const claimed = takeClaim(dir);
  if (claimed !== undefined) await runClaimed(dir, claimed, pipe);
}
process.exit(0);

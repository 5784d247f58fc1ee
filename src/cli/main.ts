import { CommanderError } from 'commander';
import { LonghaulError } from '../domain/errors.js';
import { EXIT } from '../domain/outcomes.js';
import { endWith, reportUncaught } from './ending.js';
import { type Io, processIo } from './io.js';
import { buildProgram, namingHelp, usageError } from './program.js';
import { reportError } from './report.js';

/** Runs one command line. @param argv without `node` and the script @returns the exit code */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  let code = 0;
  const program = buildProgram(io, (result) => {
    code = result;
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return code;
  } catch (err) {
    const shown =
      err instanceof CommanderError
        ? usageError(
            err,
            program,
            argv.find((word) => !word.startsWith('-')),
          )
        : err;
    if (shown === undefined) return err instanceof CommanderError && err.exitCode !== 0 ? EXIT.usage : 0;
    return reportError(io, LonghaulError.is(shown) ? namingHelp(shown, program, argv) : shown, wantsJson(argv));
  }
}

/** Runs this process's command line and ends the process. */
export async function runProcess(): Promise<void> {
  const io = processIo();
  const argv = process.argv.slice(2);
  // a worker's log needs the stack
  if (!['worker', 'up'].includes(argv[0] ?? '')) reportUncaught(io, wantsJson(argv));
  await endWith(main(argv, io));
}

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
}

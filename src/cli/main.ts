import { CommanderError } from 'commander';
import { type Io, processIo } from './io.js';
import { buildProgram, usageError } from './program.js';
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
    return shown === undefined ? 0 : reportError(io, shown, wantsJson(argv));
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

/** What nobody expected ends the process as any error does, not with a bare stack. */
export function reportUncaught(io: Io, json: boolean): void {
  process.on('uncaughtException', (err) => process.exit(reportError(io, err, json)));
}

/** Ends the process with that exit code when all output is written, or quietly when nobody reads it any more. */
export async function endWith(code: Promise<number>): Promise<void> {
  // a reader that has gone away (`| head`) is no error; the task goes on without this viewer
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (err: NodeJS.ErrnoException) => process.exit(err.code === 'EPIPE' ? 0 : 1));
  }
  const result = await code;
  await Promise.all([drained(process.stdout), drained(process.stderr)]);
  process.exit(result);
}

function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json');
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}

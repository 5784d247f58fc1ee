import type { Io } from './io.js';
import { reportError } from './report.js';

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

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}

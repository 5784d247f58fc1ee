import { runWorker } from '../worker.js';
import type { Role } from './flags.js';
import { type Io, printJson, printNote } from './io.js';

/** Runs a worker here until a signal ends it. @returns the exit code */
export async function workerCommand(
  io: Io,
  home: string,
  flags: { role?: Role; host?: string; json?: boolean },
): Promise<number> {
  const role = flags.role ?? 'all';
  if (flags.json) printJson(io, { type: 'worker', role, host: flags.host ?? null, pid: process.pid });
  else printNote(io, `Worker (${role}) starts; SIGTERM lets it finish what it can.`);
  await runWorker({ role, home, env: io.env, ...(flags.host === undefined ? {} : { host: flags.host }) });
  return 0;
}

import { announceWorkerReady, sayAlive } from '../service/worker-process.js';
import { createWorker, type WorkerOptions } from '../worker/create.js';
import type { Role } from './flags.js';
import { type Io, printJson, printNote } from './io.js';

/** Those that end a Temporal worker by default. */
const SHUTDOWN_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGUSR2'] as const;

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

/** Runs a worker as this process's only work; the service, if that started it, hears that it lives. */
async function runWorker(options: WorkerOptions): Promise<void> {
  const alive = sayAlive();
  try {
    const worker = await createWorker({ ...options, signals: SHUTDOWN_SIGNALS });
    const running = worker.run();
    announceWorkerReady();
    await running;
  } finally {
    clearInterval(alive);
  }
}

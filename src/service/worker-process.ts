import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DevServer } from '../devserver/server.js';
import { LonghaulError } from '../domain/errors.js';
import { type RunningChild, runningChild } from './child.js';
import { fileSize, openLog, withEndOfLog } from './files.js';
import { packageRoot } from './package.js';
import { EMBEDDED_VARIABLE } from './service.js';

export interface WorkerStart {
  home: string;
  env: NodeJS.ProcessEnv;
  server: Pick<DevServer, 'address' | 'namespace'>;
  logFile: string;
  /** Command and arguments; default: this package's own worker. */
  command?: string[] | undefined;
  onSpawn: (child: RunningChild) => void;
  /** Called with each sign of life. */
  onAlive: () => void;
}

/** ms after which a worker that has said nothing, but lives, counts as started; ours takes a second or two. */
const SILENT_MS = 30_000;

/** Message of a worker process to the service that started it: it polls. */
export const WORKER_READY = { type: 'ready' } as const;

/** Message of a worker process to the service: its event loop turns. */
const WORKER_ALIVE = { type: 'alive' } as const;
const ALIVE_MS = 2_000;

/** For the worker process: gives the service, if that started it, a sign of life now and then. */
export function sayAlive(): NodeJS.Timeout {
  const say = (): void => {
    if (process.connected) process.send?.(WORKER_ALIVE, undefined, undefined, () => undefined);
  };
  say();
  return setInterval(say, ALIVE_MS);
}

/** For the worker process: tells the service, if that started it, that the worker polls. */
export function announceWorkerReady(): void {
  if (process.connected) process.send?.(WORKER_READY, undefined, undefined, () => undefined);
}

/**
 * Starts the worker process and waits until it says that it polls.
 * @throws LonghaulError `service-failed` with the end of its log when it ends before
 */
export async function startWorkerProcess(options: WorkerStart): Promise<RunningChild> {
  const from = fileSize(options.logFile);
  const [command, ...args] = options.command ?? defaultCommand();
  const log = openLog(options.logFile);
  const child = spawn(command ?? process.execPath, args, {
    stdio: ['ignore', log, log, 'ipc'],
    detached: true,
    cwd: options.home,
    env: workerEnv(options),
  });
  closeSync(log);
  const ready = new Promise<'ready'>((done) => {
    child.on('message', (message) => {
      const { type } = (message ?? {}) as { type?: unknown };
      if (type === WORKER_READY.type) done('ready');
      if (type === WORKER_ALIVE.type) options.onAlive();
    });
  });
  const worker = runningChild(child, 'the worker');
  options.onSpawn(worker);
  const ended = worker.exited.then((how) => ({ how }));
  const first = await Promise.race([ready, ended, sleep(SILENT_MS, 'silent' as const, { ref: false })]);
  if (typeof first === 'string') return worker;
  throw new LonghaulError(
    'service-failed',
    withEndOfLog(`The worker ended at its start (${first.how}).`, options.logFile, from),
    {
      kept: 'Tasks are unchanged; they go on when a worker runs.',
      next: `Read ${options.logFile}.`,
    },
  );
}

const defaultCommand = (): string[] => [
  process.execPath,
  join(packageRoot, 'bin', 'longhaul.js'),
  'worker',
  '--role',
  'all',
];

function workerEnv({ env, home, server }: WorkerStart): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_'));
  return {
    ...Object.fromEntries(kept),
    LONGHAUL_HOME: home,
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    [EMBEDDED_VARIABLE]: '1',
  };
}

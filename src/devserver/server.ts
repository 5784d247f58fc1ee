import { execFile, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { promisify } from 'node:util';
import { LonghaulError } from '../domain/errors.js';
import { type RunningChild, runningChild } from '../service/child.js';
import { fileSize, logTail, openLog } from '../service/files.js';
import { acquireLock, type HeldLock } from '../service/lock.js';
import { type ProcessRef, processesWithArgs, processRef } from '../service/processes.js';
import type { HomePaths } from '../settings/paths.js';
import { NAMESPACE, OPTIONAL_FLAGS, serverFlags } from './flags.js';
import { choosePorts, fixedPorts, portTaken, type ServerPorts } from './ports.js';
import { prepareNamespace, waitUntilServing } from './readiness.js';

const run = promisify(execFile);

export interface DevServerOptions {
  /** The Temporal CLI. */
  binary: string;
  paths: Pick<HomePaths, 'temporalDb' | 'temporalLock' | 'temporalPorts'>;
  /** File that the server's output is appended to. */
  logFile: string;
  env: NodeJS.ProcessEnv;
  /** Called right after the process has been started, before it serves. */
  onSpawn?: (child: RunningChild) => void;
}

export interface DevServer extends RunningChild {
  /** `host:port` of the frontend. */
  address: string;
  namespace: string;
  /** Address of the web UI. */
  ui: string;
}

/** ms within which a started server must answer; it takes under a second on an idle machine. */
const READY_MS = 60_000;

/**
 * Starts Temporal's development server on the database file and waits until it serves.
 * The process lives on when this one ends: whoever starts it also stops it.
 * @throws LonghaulError `service-busy` (another server has this database), `port-taken`, `service-failed`
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  const lock = acquireLock(options.paths.temporalLock);
  if ('heldBy' in lock) throw databaseBusy(lock.heldBy.pid, options);
  try {
    const [stranger] = databaseUsers(options.paths.temporalDb);
    if (stranger) throw databaseBusy(stranger.pid, options);
    const flags = await optionalFlags(options.binary);
    for (let tries = 1; ; tries++) {
      const ports = await choosePorts(options.paths.temporalPorts, options.env, tries > 1);
      const outcome = await tryStart(options, ports, flags, lock);
      if (outcome.state === 'serving') return outcome.server;
      if (outcome.state === 'failed') throw outcome.error;
      const [fixed] = fixedPorts(options.env);
      if (fixed) throw portTaken(ports.grpc, fixed);
      if (tries === 3) throw startFailed(options, outcome.output);
    }
  } catch (err) {
    lock.release();
    throw err;
  }
}

/** Development servers that have this database file open, whoever started them: two on one file do not complain. */
export function databaseUsers(database: string): ProcessRef[] {
  return processesWithArgs(['start-dev', '--db-filename', database]);
}

function databaseBusy(pid: number, options: DevServerOptions): LonghaulError {
  return new LonghaulError(
    'service-busy',
    `Another Temporal server (process ${pid}) uses the database ${options.paths.temporalDb}.`,
    { kept: 'It was left running, and the database was not touched.', next: 'Use that one, or end it and try again.' },
  );
}

type StartOutcome =
  | { state: 'serving'; server: DevServer }
  | { state: 'port-lost'; output: string }
  | { state: 'failed'; error: unknown };

async function tryStart(
  options: DevServerOptions,
  ports: ServerPorts,
  flags: string[],
  lock: HeldLock,
): Promise<StartOutcome> {
  const from = fileSize(options.logFile);
  const child = spawnServer(options, ports, flags);
  const ref = processRef(child.pid);
  if (ref) lock.handOver(ref);
  options.onSpawn?.(child);
  const address = `127.0.0.1:${ports.grpc}`;
  try {
    const serving = await waitUntilServing({ address, port: ports.grpc, exited: child.exited, timeoutMs: READY_MS });
    if (!serving) {
      await child.stop(2_000);
      const output = logTail(options.logFile, 15, from);
      if (/address already in use/i.test(output)) return { state: 'port-lost', output };
      return { state: 'failed', error: startFailed(options, output) };
    }
    await prepareNamespace(address);
    return {
      state: 'serving',
      server: { ...child, address, namespace: NAMESPACE, ui: `http://127.0.0.1:${ports.ui}` },
    };
  } catch (error) {
    await child.stop(2_000);
    return { state: 'failed', error };
  }
}

function spawnServer(options: DevServerOptions, ports: ServerPorts, flags: string[]): RunningChild {
  const log = openLog(options.logFile);
  try {
    const child = spawn(options.binary, serverFlags(options.paths.temporalDb, ports, flags), {
      stdio: ['ignore', log, log],
      // a group of its own: Ctrl-C in a terminal must not end it before the worker
      detached: true,
      env: withoutTemporalSettings(options.env),
    });
    return runningChild(child, 'the Temporal server');
  } finally {
    closeSync(log);
  }
}

async function optionalFlags(binary: string): Promise<string[]> {
  const { stdout } = await run(binary, ['server', 'start-dev', '--help'], { timeout: 20_000 });
  return OPTIONAL_FLAGS.filter((flag) => stdout.includes(`${flag} `));
}

/** The CLI reads the same variables as its clients, and they are about other servers. */
function withoutTemporalSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

function startFailed(options: DevServerOptions, output: string): LonghaulError {
  return new LonghaulError(
    'service-failed',
    `The Temporal server did not start. The end of its log:\n${output || '(empty)'}`,
    {
      kept: `Tasks are in ${options.paths.temporalDb}, which was left as it is.`,
      next: `Read ${options.logFile}; if the database is damaged, move it aside and start again.`,
    },
  );
}

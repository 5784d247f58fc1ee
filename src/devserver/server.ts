import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync } from 'node:fs';
import { LonghaulError } from '../domain/errors.js';
import { type RunningChild, runningChild } from '../service/child.js';
import { fileSize, logTail, openLog, withEndOfLog } from '../service/files.js';
import { acquireLock, type HeldLock } from '../service/lock.js';
import { type ProcessRef, processesWithArgs, processRef } from '../service/processes.js';
import type { HomePaths } from '../settings/paths.js';
import { NAMESPACE, serverFlags } from './flags.js';
import { choosePorts, isFixed, PORT_VARIABLES, portTaken, type ServerPorts } from './ports.js';
import { prepareNamespace, waitUntilServing } from './readiness.js';

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
  api: HttpApi;
}

/** The HTTP API of a server: it answers only to those who know its `Host`, which is a secret of this start. */
export interface HttpApi {
  port: number;
  host: string;
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
    let refresh = false;
    for (let tries = 1; ; tries++) {
      const ports = await choosePorts(options.paths.temporalPorts, options.env, refresh);
      const outcome = await tryStart(options, ports, lock);
      if (outcome.state === 'serving') return outcome.server;
      if (outcome.state === 'failed') throw outcome.error;
      // the others are new for each start
      refresh = outcome.output.includes(`:${ports.grpc}:`);
      if (refresh && isFixed('grpc', options.env)) throw portTaken(ports.grpc, PORT_VARIABLES.grpc);
      if (tries === 3) throw startFailed(options);
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

async function tryStart(options: DevServerOptions, ports: ServerPorts, lock: HeldLock): Promise<StartOutcome> {
  const from = fileSize(options.logFile);
  const api = { port: ports.http, host: `${randomBytes(16).toString('hex')}.invalid` };
  const child = spawnServer(options, serverFlags(options.paths.temporalDb, ports, api.host));
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
      return { state: 'failed', error: startFailed(options, from) };
    }
    await prepareNamespace(address);
    return { state: 'serving', server: { ...child, address, namespace: NAMESPACE, api } };
  } catch (error) {
    await child.stop(2_000);
    return { state: 'failed', error };
  }
}

function spawnServer(options: DevServerOptions, flags: string[]): RunningChild {
  const log = openLog(options.logFile);
  // it makes its database readable by everybody, and the home may be a folder that others can enter
  const mask = process.umask(0o077);
  try {
    const child = spawn(options.binary, flags, {
      stdio: ['ignore', log, log],
      // a group of its own: Ctrl-C in a terminal must not end it before the worker
      detached: true,
      env: withoutTemporalSettings(options.env),
    });
    return runningChild(child, 'the Temporal server');
  } finally {
    process.umask(mask);
    closeSync(log);
  }
}

/** The CLI reads the same variables as its clients, and they are about other servers. */
export function withoutTemporalSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('TEMPORAL_')));
}

function startFailed(options: DevServerOptions, from = 0): LonghaulError {
  return new LonghaulError(
    'service-failed',
    withEndOfLog('The Temporal server did not start.', options.logFile, from),
    {
      kept: `Tasks are in ${options.paths.temporalDb}, which was left as it is.`,
      next: `Read ${options.logFile}; if the database is damaged, move it aside and start again.`,
    },
  );
}

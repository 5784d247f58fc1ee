import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findTemporal } from '../devserver/binary.js';
import { ERROR_SLUGS, type ErrorSlug, LonghaulError, messageOf } from '../domain/errors.js';
import { withoutSecrets } from '../runner/environment.js';
import { type HomePaths, homePaths } from '../settings/paths.js';
import { named } from './differences.js';
import { openLog, readJson, withEndOfLog } from './files.js';
import { endLeftovers, leftovers } from './leftovers.js';
import { lockHolder } from './lock.js';
import { packageIdentity, packageRoot } from './package.js';
import { endProcess } from './processes.js';
import { BUSY_EXIT, type ServiceFailure, type ServiceState } from './service.js';
import { readState } from './state.js';
import { serviceAge } from './versions.js';

export interface UpOptions {
  home: string;
  env: NodeJS.ProcessEnv;
  /** Gets a line for people before something slow. */
  log?: (line: string) => void;
  /** Gets what has been fetched of the server, in bytes; `total` where it is known. */
  progress?: (bytes: number, total: number | undefined) => void;
  /** Limit for the start, without the time for fetching the server. */
  timeoutMs?: number;
  /** Replaces the command that runs the service. */
  serviceCommand?: string[];
  /** A service of an older version, or of another build of this one, is ended and started anew. */
  replace?: boolean;
}

/** ms within which a service must be ready; about 2 s on an idle machine. */
const READY_MS = 90_000;

/** ms that a service gets to end: the graces of its children, and some more. */
const DOWN_MS = 25_000;

/**
 * The running service of this home; starts it when there is none and waits until it is ready. Many callers at once
 * get the same one.
 * @throws LonghaulError `bad-settings` (another server is named), `temporal-binary`, `port-taken`, `service-failed` (with the end of the log)
 */
export async function up(options: UpOptions): Promise<ServiceState> {
  await refuseNamedServer(options.env);
  const paths = homePaths(options.home);
  const running = await readService(options.home);
  if (running && !isReplaced(running, options)) return running;
  const binary = await findTemporal(options);
  const began = Date.now();
  let started: ChildProcess | undefined;
  while (Date.now() - began < (options.timeoutMs ?? READY_MS)) {
    const state = await readService(options.home);
    if (state && !isReplaced(state, options)) return state;
    if (state) await endService(paths, state, options.log);
    if (!lockHolder(paths.serviceLock)) {
      throwFailure(paths, began);
      const code = started?.exitCode;
      // 0: someone ended it in the meantime, and this caller still wants one
      if (typeof code === 'number' && code !== BUSY_EXIT && code !== 0)
        throw notReady(paths, `ended with exit code ${code}`);
      if (!started || hasEnded(started)) {
        options.log?.('Starting the Longhaul service.');
        started = spawnService(options, paths, binary);
      }
    }
    await sleep(25);
  }
  throw notReady(paths, 'was not ready in time');
}

function isReplaced(state: ServiceState, { replace }: UpOptions): boolean {
  const age = replace ? serviceAge(state, packageIdentity()) : 'same';
  return age === 'older' || age === 'rebuilt';
}

/** Ends this service, and not another one that has started since. */
async function endService(paths: HomePaths, state: ServiceState, log?: (line: string) => void): Promise<void> {
  const holder = lockHolder(paths.serviceLock);
  if (holder?.pid !== state.pid || holder.start !== state.processStart) return;
  log?.(`Replacing the service of ${named(state)}; open tasks go on.`);
  await endProcess(holder, DOWN_MS);
}

/**
 * Ends the service of this home, or what a killed one has left, and waits until the processes are gone. One that another
 * command starts in the meantime is left alone. False when there was nothing to end.
 */
export async function down({ home }: { home: string }): Promise<boolean> {
  const paths = homePaths(home);
  const holder = lockHolder(paths.serviceLock);
  let found = leftovers(paths);
  if (holder) await endProcess(holder, DOWN_MS);
  const now = leftovers(paths);
  if (!lockHolder(paths.serviceLock)) found = now;
  await endLeftovers(found);
  if (!lockHolder(paths.serviceLock)) for (const file of [paths.service, paths.serviceChildren]) removeStale(file);
  return holder !== undefined || found.length > 0;
}

function removeStale(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // on a disk that cannot be written; who reads it looks whether its process lives
  }
}

/** Runs the service in this process until SIGINT, SIGTERM or SIGHUP; its log also goes to stderr, or to `log`. */
export async function runForeground(options: Pick<UpOptions, 'home' | 'env' | 'log'>): Promise<void> {
  await refuseNamedServer(options.env);
  // loaded here only: clients need none of it
  const { foreground } = await import('./foreground.js');
  await foreground({ log: (line) => process.stderr.write(`${line}\n`), ...options });
}

/** What the running service of this home says of itself; undefined when none is ready. */
export async function readService(home: string): Promise<ServiceState | undefined> {
  return readState(homePaths(home));
}

async function refuseNamedServer(env: NodeJS.ProcessEnv): Promise<void> {
  // loaded here only: a command line that ends or reads a service needs none of it
  const named = await import('./named-server.js');
  named.refuseNamedServer(env);
}

function spawnService(options: UpOptions, paths: HomePaths, binary: string): ChildProcess {
  const [command, ...args] = options.serviceCommand ?? [
    process.execPath,
    join(packageRoot, 'dist', 'service', 'main.js'),
  ];
  const log = serviceLog(paths);
  const child = spawn(command ?? process.execPath, args, {
    stdio: ['ignore', log, log],
    detached: true,
    cwd: options.home,
    env: { ...serviceEnvironment(options.env), LONGHAUL_HOME: options.home, LONGHAUL_TEMPORAL_CLI: binary },
  });
  closeSync(log);
  child.on('error', () => undefined);
  child.unref();
  return child;
}

/** Tasks name profiles, so no process of the service needs a key, or the address that one shell has used. */
function serviceEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { ANTHROPIC_BASE_URL: _, ...kept } = withoutSecrets(env);
  return kept;
}

function serviceLog(paths: HomePaths): number {
  try {
    return openLog(join(paths.logs, 'service.log'));
  } catch (cause) {
    const why = messageOf(cause);
    throw new LonghaulError('service-failed', `The service could not be started, its log cannot be written: ${why}.`, {
      kept: 'Tasks are unchanged; they go on when the service runs.',
      next: 'Check the free space and the permissions of LONGHAUL_HOME, then try again.',
      cause,
    });
  }
}

const hasEnded = (child: ChildProcess): boolean =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

/** A failure that was written since `began` is that of the start being waited for. */
function throwFailure(paths: HomePaths, began: number): void {
  const failure = readJson(paths.serviceFailure) as ServiceFailure | undefined;
  if (!failure || failure.at < began) return;
  const slug = ERROR_SLUGS.find((known) => known === failure.slug) ?? ('service-failed' satisfies ErrorSlug);
  const more = { ...(failure.kept && { kept: failure.kept }), ...(failure.next && { next: failure.next }) };
  throw new LonghaulError(slug, failure.message, more);
}

function notReady(paths: HomePaths, what: string): LonghaulError {
  const log = join(paths.logs, 'service.log');
  return new LonghaulError('service-failed', withEndOfLog(`The service ${what}.`, log), {
    kept: 'Tasks are unchanged; they go on when the service runs.',
    next: `Read ${paths.logs}, then try again.`,
  });
}

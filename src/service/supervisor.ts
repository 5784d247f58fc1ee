import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findTemporal } from '../devserver/binary.js';
import { type DevServer, startDevServer } from '../devserver/server.js';
import { openUiGate, type UiGate } from '../devserver/ui-gate.js';
import { UiPages } from '../devserver/ui-pages.js';
import { LonghaulError, messageOf } from '../domain/errors.js';
import { openJournal } from '../journal/open.js';
import { type HomePaths, homePaths } from '../settings/paths.js';
import type { RunningChild } from './child.js';
import { recordEnvironment } from './environment.js';
import { withEndOfLog, writeAtomic } from './files.js';
import { idleLimit, watchIdle } from './idle.js';
import { Keeper } from './keeper.js';
import { endLeftovers, GRACE, leftovers, recordChildren, type ServiceChildren } from './leftovers.js';
import { acquireLock } from './lock.js';
import { rotateLog } from './logs.js';
import { packageIdentity } from './package.js';
import { isAlive, processRef } from './processes.js';
import { HUNG_MS, Pulse } from './pulse.js';
import type { ChildTrouble, ServiceFailure, ServiceState } from './service.js';
import { startWorkerProcess } from './worker-process.js';

export interface SupervisorOptions {
  home: string;
  env: NodeJS.ProcessEnv;
  /** Ends the service. */
  signal: AbortSignal;
  /** Replaces the worker's command and arguments. */
  workerCommand?: string[];
  /** Gets each line of the service's log, too. */
  log?: (line: string) => void;
  /** Called once when the service is ready. */
  onReady?: (state: ServiceState) => void;
}

/** Starts that are tried before the service gives up at its own start; later ones are tried for ever. */
const FIRST_TRIES = 3;

const ROTATE_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 2_000;

/**
 * The background service: Temporal's development server and one worker process, each started again when it ends.
 * Runs until `signal` is aborted or nothing has been open for long; then both have ended, the worker first.
 * @throws LonghaulError `service-busy` when this home has a service; also what a failed start throws
 */
export async function runSupervisor(options: SupervisorOptions): Promise<void> {
  const paths = homePaths(options.home);
  const lock = takeHome(paths);
  if ('heldBy' in lock) {
    throw new LonghaulError(
      'service-busy',
      `A service (process ${lock.heldBy.pid}) already runs for ${options.home}.`,
      {
        kept: 'It was left running.',
        next: 'Use it, or end it with `longhaul down`.',
      },
    );
  }
  const service = new Service(options, paths);
  try {
    await service.run();
  } catch (err) {
    if (!options.signal.aborted) {
      service.log(`the service ends: ${messageOf(err)}`);
      writeFailure(paths, err);
      throw err;
    }
  } finally {
    await service.stop();
    lock.release();
  }
}

/** @throws LonghaulError `service-failed` when nothing can be written there */
function takeHome(paths: HomePaths): ReturnType<typeof acquireLock> {
  try {
    mkdirSync(paths.logs, { recursive: true, mode: 0o700 });
    return acquireLock(paths.serviceLock);
  } catch (cause) {
    const why = messageOf(cause);
    throw new LonghaulError('service-failed', `The service cannot write to ${paths.home}: ${why}.`, {
      kept: 'Tasks are unchanged; they go on when the service runs.',
      next: 'Check the free space and the permissions of LONGHAUL_HOME, then try again.',
      cause,
    });
  }
}

function writeFailure(paths: HomePaths, err: unknown): void {
  const message = messageOf(err);
  const failure: ServiceFailure = LonghaulError.is(err)
    ? { at: Date.now(), slug: err.slug, message, kept: err.kept, next: err.next }
    : { at: Date.now(), slug: 'service-failed', message };
  writeAtomic(paths.serviceFailure, JSON.stringify(failure));
}

class Service {
  private readonly children: ServiceChildren = {};
  private readonly temporal: Keeper<DevServer>;
  private readonly worker: Keeper<RunningChild>;
  private readonly pages: UiPages;
  private timers: NodeJS.Timeout[] = [];
  private readonly identity = packageIdentity();
  private readonly state: Partial<ServiceState> = {};
  /** Whether service.json is to be there. */
  private found = false;
  private pulse = new Pulse();
  private server: DevServer | undefined;
  private gate: UiGate | undefined;

  constructor(
    private readonly options: SupervisorOptions,
    private readonly paths: HomePaths,
  ) {
    const log = (line: string): void => this.log(line);
    this.temporal = new Keeper<DevServer>({
      title: 'Temporal server',
      start: (spawned) => this.startTemporal(spawned),
      onSpawn: ({ ref }) => this.record({ temporal: ref }),
      onReady: (server) => this.temporalReady(server),
      onDown: (trouble) => this.childDown('temporal', trouble),
      log,
    });
    this.worker = new Keeper<RunningChild>({
      title: 'worker',
      start: (spawned) => this.startWorker(spawned),
      onSpawn: ({ ref }) => this.record({ worker: ref }),
      onReady: ({ pid }) => this.publish({ workerPid: pid }),
      onDown: (trouble) => this.childDown('worker', trouble),
      log,
    });
    this.pages = new UiPages({
      binary: () => findTemporal(options),
      env: options.env,
      onSpawn: ({ ref }) => this.record({ pages: ref }),
    });
  }

  async run(): Promise<void> {
    const { signal, home, env } = this.options;
    const stopEarly = (): void => void this.stop();
    signal.addEventListener('abort', stopEarly, { once: true });
    signal.throwIfAborted();
    rmSync(this.paths.service, { force: true });
    rmSync(this.paths.serviceFailure, { force: true });
    const found = leftovers(this.paths);
    await endLeftovers(found);
    if (found.length > 0) this.log(`ended ${found.length} process(es) of an earlier service`);
    signal.throwIfAborted();
    // not before: those that were left wrote to the same logs
    this.rotateLogs();
    this.timers = [
      setInterval(() => this.rotateLogs(), ROTATE_EVERY_MS),
      setInterval(() => this.endHungWorker(), LOOK_EVERY_MS),
    ];
    const limitMs = idleLimit(env);
    // the journal before Temporal's database: beside that one, a missing journal counts as lost
    await (await openJournal({ home })).close();
    const server = await this.temporal.begin(FIRST_TRIES);
    const api = () => this.server?.api;
    this.gate = await openUiGate({ portsFile: this.paths.temporalPorts, env, api, pages: this.pages });
    await this.worker.begin(FIRST_TRIES);
    this.found = true;
    this.publish({
      pid: process.pid,
      processStart: processRef(process.pid)?.start ?? '',
      namespace: server.namespace,
      ui: this.gate.url,
      ...this.identity,
      started: Date.now(),
      environment: recordEnvironment(env),
    });
    this.log(`ready: Temporal at ${server.address}, its UI at ${this.gate.url}`);
    this.options.onReady?.(this.state as ServiceState);
    const why = await watchIdle({
      signal,
      limitMs,
      home,
      server: () => this.server,
      withdraw: () => this.withdraw(),
      restore: () => {
        this.found = true;
        this.publish({});
      },
    });
    this.log(`stopping: ${why}`);
  }

  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.withdraw();
    await this.gate?.close();
    await this.pages.stop();
    await this.worker.stop(GRACE.worker);
    await this.temporal.stop(GRACE.temporal);
    rmSync(this.paths.serviceChildren, { force: true });
  }

  log(line: string): void {
    const stamped = `${new Date().toISOString()} ${line}`;
    this.options.log?.(stamped);
    unlessDiskFails(() => {
      mkdirSync(this.paths.logs, { recursive: true });
      appendFileSync(this.logFile('service'), `${stamped}\n`, { mode: 0o600 });
    });
  }

  private async startTemporal(onSpawn: (child: RunningChild) => void): Promise<DevServer> {
    const { home, env } = this.options;
    const binary = await findTemporal({ home, env, log: (line) => this.log(line) });
    return startDevServer({ binary, paths: this.paths, env, logFile: this.logFile('temporal'), onSpawn });
  }

  private temporalReady(server: DevServer): void {
    const moved = this.server !== undefined && this.server.address !== server.address;
    this.server = server;
    this.publish({ address: server.address, temporalPid: server.pid });
    if (!moved) return;
    this.log(`the Temporal server is now at ${server.address}; the worker starts again`);
    void this.worker.restart(GRACE.worker);
  }

  private startWorker(onSpawn: (child: RunningChild) => void): Promise<RunningChild> {
    const { home, env, workerCommand: command } = this.options;
    if (!this.server) throw new Error('the Temporal server has not started');
    const now = packageIdentity();
    if (now.build !== this.identity.build)
      this.log(`the worker starts from another build than the service: ${now.version}, ${now.build}`);
    const pulse = new Pulse();
    this.pulse = pulse;
    const logFile = this.logFile('worker');
    const onAlive = (): void => pulse.beat();
    return startWorkerProcess({ home, env, server: this.server, logFile, command, onSpawn, onAlive });
  }

  /** A worker can hang without ending: stopped by a signal, or in a loop. Its successor is started by its keeper. */
  private endHungWorker(): void {
    const { worker } = this.children;
    if (!this.pulse.hasHung() || !worker || !isAlive(worker)) return;
    this.log(`the worker (process ${worker.pid}) has given no sign of life for ${HUNG_MS / 1000} s: it is killed`);
    process.kill(worker.pid, 'SIGKILL');
  }

  private record(child: ServiceChildren): void {
    Object.assign(this.children, child);
    recordChildren(this.paths, this.children);
  }

  private childDown(child: 'temporal' | 'worker', trouble: ChildTrouble): void {
    const message = withEndOfLog(trouble.message, this.logFile(child));
    delete this.state[`${child}Pid`];
    this.publish({ [`${child}Trouble`]: { ...trouble, message } });
  }

  /** Writes service.json, while the service is to be found. */
  private publish(change: Partial<ServiceState>): void {
    Object.assign(this.state, change);
    if (this.found) unlessDiskFails(() => writeAtomic(this.paths.service, `${JSON.stringify(this.state, null, 2)}\n`));
  }

  private withdraw(): void {
    this.found = false;
    rmSync(this.paths.service, { force: true });
  }

  private logFile(name: 'service' | 'temporal' | 'worker'): string {
    return join(this.paths.logs, `${name}.log`);
  }

  private rotateLogs(): void {
    unlessDiskFails(() => rotateLog(this.logFile('service')));
    for (const name of ['temporal', 'worker'] as const)
      unlessDiskFails(() => rotateLog(this.logFile(name), { writer: this.children[name] }));
  }
}

/** A disk that is full, or has gone, must not end the service: its children go on. */
function unlessDiskFails(act: () => unknown): void {
  try {
    act();
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === undefined) throw err;
  }
}

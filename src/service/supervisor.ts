import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findTemporal } from '../devserver/binary.js';
import { type DevServer, startDevServer } from '../devserver/server.js';
import { LonghaulError } from '../domain/errors.js';
import { openJournal } from '../journal/open.js';
import { type HomePaths, homePaths } from '../settings/paths.js';
import type { RunningChild } from './child.js';
import { rotateLog, writeAtomic } from './files.js';
import { watchIdle } from './idle.js';
import { Keeper } from './keeper.js';
import { endLeftovers, GRACE, recordChildren, type ServiceChildren } from './leftovers.js';
import { acquireLock } from './lock.js';
import { packageVersion } from './package.js';
import { isAlive } from './processes.js';
import { HUNG_MS, Pulse } from './pulse.js';
import type { ServiceFailure, ServiceState } from './service.js';
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

const ROTATE_EVERY_MS = 60_000;
const LOOK_EVERY_MS = 2_000;

/**
 * The background service: Temporal's development server and one worker process, each started again when it ends.
 * Runs until `signal` is aborted or nothing has been open for long; then both have ended, the worker first.
 * @throws LonghaulError `service-busy` when this home has a service; also what a failed start throws
 */
export async function runSupervisor(options: SupervisorOptions): Promise<void> {
  const paths = homePaths(options.home);
  mkdirSync(paths.logs, { recursive: true, mode: 0o700 });
  const lock = acquireLock(paths.serviceLock);
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
      service.log(`the service ends: ${err instanceof Error ? err.message : String(err)}`);
      writeFailure(paths, err);
      throw err;
    }
  } finally {
    await service.stop();
    lock.release();
  }
}

function writeFailure(paths: HomePaths, err: unknown): void {
  const message = err instanceof Error ? err.message : String(err);
  const failure: ServiceFailure = LonghaulError.is(err)
    ? { at: Date.now(), slug: err.slug, message, kept: err.kept, next: err.next }
    : { at: Date.now(), slug: 'service-failed', message };
  writeAtomic(paths.serviceFailure, JSON.stringify(failure));
}

class Service {
  private readonly children: ServiceChildren = {};
  private readonly temporal: Keeper<DevServer>;
  private readonly worker: Keeper<RunningChild>;
  private readonly timers: NodeJS.Timeout[];
  private pulse = new Pulse();
  private server: DevServer | undefined;
  private state: ServiceState | undefined;

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
      log,
    });
    this.worker = new Keeper<RunningChild>({
      title: 'worker',
      start: (spawned) => this.startWorker(spawned),
      onSpawn: ({ ref }) => this.record({ worker: ref }),
      onReady: ({ pid }) => this.publish({ workerPid: pid }),
      log,
    });
    this.timers = [
      setInterval(() => this.rotateLogs(), ROTATE_EVERY_MS),
      setInterval(() => this.endHungWorker(), LOOK_EVERY_MS),
    ];
  }

  async run(): Promise<void> {
    const { signal } = this.options;
    const stopEarly = (): void => void this.stop();
    signal.addEventListener('abort', stopEarly, { once: true });
    signal.throwIfAborted();
    rmSync(this.paths.service, { force: true });
    rmSync(this.paths.serviceFailure, { force: true });
    this.rotateLogs();
    const ended = await endLeftovers(this.paths);
    if (ended > 0) this.log(`ended ${ended} process(es) of an earlier service`);
    // the journal before Temporal's database: beside that one, a missing journal counts as lost
    await (await openJournal({ home: this.options.home })).close();
    const server = await this.temporal.begin(FIRST_TRIES);
    const worker = await this.worker.begin(FIRST_TRIES);
    this.state = {
      pid: process.pid,
      address: server.address,
      namespace: server.namespace,
      ui: server.ui,
      version: packageVersion(),
      started: Date.now(),
      temporalPid: server.pid,
      workerPid: worker.pid,
    };
    this.publish({});
    this.log(`ready: Temporal at ${server.address}, its UI at ${server.ui}`);
    this.options.onReady?.(this.state);
    const why = await watchIdle({ signal, env: this.options.env, server: () => this.server });
    this.log(`stopping: ${why}`);
  }

  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.state = undefined;
    rmSync(this.paths.service, { force: true });
    await this.worker.stop(GRACE.worker);
    await this.temporal.stop(GRACE.temporal);
    rmSync(this.paths.serviceChildren, { force: true });
  }

  log(line: string): void {
    const stamped = `${new Date().toISOString()} ${line}`;
    mkdirSync(dirname(this.logFile('service')), { recursive: true });
    appendFileSync(this.logFile('service'), `${stamped}\n`, { mode: 0o600 });
    this.options.log?.(stamped);
  }

  private async startTemporal(onSpawn: (child: RunningChild) => void): Promise<DevServer> {
    const { home, env } = this.options;
    const binary = await findTemporal({ home, env, log: (line) => this.log(line) });
    return startDevServer({ binary, paths: this.paths, env, logFile: this.logFile('temporal'), onSpawn });
  }

  private temporalReady(server: DevServer): void {
    const moved = this.server !== undefined && this.server.address !== server.address;
    this.server = server;
    this.publish({ address: server.address, ui: server.ui, temporalPid: server.pid });
    if (!moved) return;
    this.log(`the Temporal server is now at ${server.address}; the worker starts again`);
    void this.worker.restart(GRACE.worker);
  }

  private startWorker(onSpawn: (child: RunningChild) => void): Promise<RunningChild> {
    const { home, env, workerCommand: command } = this.options;
    if (!this.server) throw new Error('the Temporal server has not started');
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

  /** Writes service.json, once the service is ready. */
  private publish(change: Partial<ServiceState>): void {
    if (!this.state) return;
    Object.assign(this.state, change);
    writeAtomic(this.paths.service, `${JSON.stringify(this.state, null, 2)}\n`);
  }

  private logFile(name: 'service' | 'temporal' | 'worker'): string {
    return join(this.paths.logs, `${name}.log`);
  }

  private rotateLogs(): void {
    for (const name of ['service', 'temporal', 'worker'] as const) rotateLog(this.logFile(name));
  }
}

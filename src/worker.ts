import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { IllegalStateError } from '@temporalio/common';
import {
  DefaultLogger,
  type LogEntry,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  type WorkerOptions as TemporalWorkerOptions,
  Worker,
} from '@temporalio/worker';
import { createActivities } from './activities/index.js';
import { TemporalTasks } from './client/temporal-tasks.js';
import type { LonghaulError } from './domain/errors.js';
import { hostQueue, TASK_QUEUE, type WorkerRole } from './domain/queues.js';
import type { Journal } from './journal/journal.js';
import { openJournal } from './journal/open.js';
import { LOCAL_SERVER } from './journal/rows.js';
import { dropSpareRunner, prepareRunner } from './runner/spare.js';
import { workerIdentity } from './runs/dead-workers.js';
import { unreachable, type WorkerConnection, workerConnection } from './service/connect.js';
import { longhaulHome } from './settings/paths.js';
import { type Duties, startDuties } from './worker/duties.js';
import type { LonghaulWorker, WorkerLog, WorkerLogEntry, WorkerOptions } from './worker/types.js';

/** What every worker is created with, besides what it does. */
export const WORKER_SETTINGS = {
  maxConcurrentActivityTaskExecutions: 1_000,
  // A cancel is learned from a heartbeat's answer, so heartbeats must not be held back.
  maxHeartbeatThrottleInterval: '1s',
  defaultHeartbeatThrottleInterval: '1s',
  stickyQueueScheduleToStartTimeout: '1s',
  shutdownGraceTime: '3s',
  shutdownForceTime: '8s',
} as const satisfies Partial<TemporalWorkerOptions>;

/** What {@link createWorker} does: loads Temporal's libraries, connects, opens the journal. */
export async function openWorker(options: WorkerOptions): Promise<LonghaulWorker> {
  const { role = 'all', env = process.env, signals = [] } = options;
  const home = options.home ?? longhaulHome(env);
  const host = options.host ?? env.LONGHAUL_HOST ?? hostname();
  const queue = role === 'host' ? hostQueue(host) : TASK_QUEUE;
  installRuntime(options.log, env);
  const target = await workerConnection({ home, env });
  const { address, namespace, embedded } = target;
  const server = embedded ? LOCAL_SERVER : `${address}/${namespace}`;
  // a server that a person has named may not be there, or lack the namespace or what tasks need in it
  if (!embedded) await (await TemporalTasks.open({ home, env })).close();
  const journal = await openJournal({ home });
  let connection: NativeConnection | undefined;
  try {
    connection = await connectWorker(target);
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: queue,
      identity: workerIdentity(role, host, process.pid),
      ...workOf(role, createActivities({ journal, home, env })),
      ...WORKER_SETTINGS,
    });
    return new RunnableWorker({ worker, connection, journal, role, host, queue, server, target, signals, home });
  } catch (err) {
    await connection?.close();
    await journal.close();
    throw err;
  }
}

interface Parts {
  worker: Worker;
  connection: NativeConnection;
  journal: Journal;
  role: WorkerRole;
  host: string;
  queue: string;
  server: string;
  target: WorkerConnection;
  signals: readonly NodeJS.Signals[];
  home: string;
}

class RunnableWorker implements LonghaulWorker {
  #running: Promise<void> | undefined;
  /** Ends when nothing of the worker is left. */
  #released: Promise<void> = Promise.resolve();

  constructor(private readonly parts: Parts) {}

  get address(): string {
    return this.parts.target.address;
  }

  get namespace(): string {
    return this.parts.target.namespace;
  }

  get role(): WorkerRole {
    return this.parts.role;
  }

  get host(): string {
    return this.parts.host;
  }

  run(): Promise<void> {
    this.#running ??= this.start();
    return this.#running;
  }

  async shutdown(): Promise<void> {
    // one that was never run is released by its end as well
    void this.run().catch(() => undefined);
    this.stop();
    await this.#released;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.shutdown();
  }

  private start(): Promise<void> {
    let fail: (err: unknown) => void = () => {};
    const lost = new Promise<never>((_, reject) => {
      fail = reject;
    });
    const work = this.work((err) => {
      fail(err);
      this.stop();
    });
    this.#released = work.catch(() => undefined);
    return Promise.race([work, lost]);
  }

  private async work(onLost: (err: LonghaulError) => void): Promise<void> {
    const { worker, connection, journal, role, host, queue, server, target, signals, home } = this.parts;
    const running = worker.run();
    const stop = () => this.stop();
    for (const signal of signals) process.on(signal, stop);
    const client = new Client({ connection, namespace: target.namespace });
    let duties: Duties | undefined;
    try {
      duties = await startDuties({ journal, client, home, host, role, queue, server, onLost });
      if (role !== 'workflow') prepareRunner();
      await running;
    } finally {
      stop();
      await running.catch(() => undefined);
      dropSpareRunner();
      await duties?.stop();
      await connection.close();
      await journal.close();
      // last: a second signal must not kill in the middle of the end
      for (const signal of signals) process.off(signal, stop);
    }
  }

  private stop(): void {
    if (this.parts.worker.getState() === 'RUNNING') this.parts.worker.shutdown();
  }
}

/** @throws LonghaulError `temporal-unreachable` */
async function connectWorker(target: WorkerConnection): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(target.options);
  } catch (err) {
    throw unreachable(target, err);
  }
}

function workOf(role: WorkerRole, activities: ReturnType<typeof createActivities>): Partial<TemporalWorkerOptions> {
  const bundle = { workflowBundle: { codePath: fileURLToPath(new URL('./workflow-bundle.js', import.meta.url)) } };
  switch (role) {
    case 'all':
      return { ...bundle, activities };
    case 'host':
      return { activities };
    case 'workflow': {
      const { appendLog, listCalls, findMessage, storeText, closeTask } = activities;
      return { ...bundle, activities: { appendLog, listCalls, findMessage, storeText, closeTask } };
    }
  }
}

/** Temporal's native part is one for the process: where the host program has one, that is used as it is. */
function installRuntime(log: WorkerLog | undefined, env: NodeJS.ProcessEnv): void {
  try {
    Runtime.install({
      logger: new DefaultLogger(env.LONGHAUL_DEBUG ? 'INFO' : 'WARN', log && ((entry) => log(logged(entry)))),
      // signals are the host program's, or this worker's own affair
      shutdownSignals: [],
      telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }), forward: {} } },
    });
  } catch (err) {
    if (!(err instanceof IllegalStateError)) throw err;
  }
}

function logged({ level, message, timestampNanos, meta }: LogEntry): WorkerLogEntry {
  const at = Number(timestampNanos / 1_000_000n);
  return { level, message, at, ...(meta ? { meta } : {}) };
}

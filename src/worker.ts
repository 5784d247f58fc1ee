import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { createActivities } from './activities/index.js';
import { isOpen } from './domain/outcomes.js';
import { hostQueue, TASK_QUEUE } from './domain/queues.js';
import { type HostLease, type Journal, LOCAL_SERVER } from './journal/journal.js';
import { openJournal } from './journal/open.js';
import { dropSpareRunner, prepareRunner } from './runner/spare.js';
import { sweepCommands } from './runner/sweep.js';
import { workerConnection } from './service/connect.js';
import { announceWorkerReady } from './service/worker-process.js';
import { homePaths } from './settings/paths.js';

/** `workflow` decides, `host` does what needs the workspaces on its disk, `all` is both on one queue. */
export type WorkerRole = 'all' | 'workflow' | 'host';

export interface RunWorkerOptions {
  role: WorkerRole;
  /** Name of this host, for the role `host`; by default `LONGHAUL_HOST`, else the machine's host name. */
  host?: string;
  home: string;
  env: NodeJS.ProcessEnv;
}

/** A host whose lease has run out has no worker (design.md 8). */
const LEASE_TTL_MS = 10_000;
const LEASE_RENEW_MS = 3_000;
/** design.md 5: at start and every 10 s. */
const SWEEP_MS = 10_000;

/**
 * Runs a worker until SIGTERM or SIGINT, then lets running activities end for 3 s and leaves the rest to a successor.
 *
 * @throws LonghaulError `temporal-unreachable`, or one of the journal's
 */
export async function runWorker(options: RunWorkerOptions): Promise<void> {
  const { role, home, env } = options;
  installRuntime(env);
  const host = options.host ?? env.LONGHAUL_HOST ?? hostname();
  const queue = role === 'host' ? hostQueue(host) : TASK_QUEUE;
  const { options: where, namespace, address, embedded } = await workerConnection({ home, env });
  const server = embedded ? LOCAL_SERVER : `${address}/${namespace}`;
  const journal = await openJournal({ home });
  const connection = await NativeConnection.connect(where);
  const lease = role === 'workflow' ? undefined : await holdLease(journal, { host, queue, server, pid: process.pid });
  const sweeper = role === 'workflow' ? undefined : sweep(journal, homePaths(home).commands);
  try {
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: queue,
      identity: `longhaul-${role}@${host}:${process.pid}`,
      ...workOf(role, createActivities({ journal, home, env })),
      maxConcurrentActivityTaskExecutions: 1_000,
      // A cancel is learned from a heartbeat's answer, so heartbeats must not be held back; both in design.md 4.
      maxHeartbeatThrottleInterval: '1s',
      defaultHeartbeatThrottleInterval: '1s',
      stickyQueueScheduleToStartTimeout: '1s',
      shutdownGraceTime: '3s',
      shutdownForceTime: '8s',
    });
    if (role !== 'workflow') prepareRunner();
    const running = worker.run();
    announceWorkerReady();
    await running;
  } finally {
    clearInterval(sweeper);
    dropSpareRunner();
    await lease?.drop();
    await connection.close();
    await journal.close();
  }
}

function workOf(role: WorkerRole, activities: ReturnType<typeof createActivities>): Partial<WorkerOptions> {
  const bundle = { workflowBundle: { codePath: fileURLToPath(new URL('./workflow-bundle.js', import.meta.url)) } };
  switch (role) {
    case 'all':
      return { ...bundle, activities };
    case 'host':
      return { activities };
    case 'workflow': {
      const { appendLog, listCalls, storeText, closeTask } = activities;
      return { ...bundle, activities: { appendLog, listCalls, storeText, closeTask } };
    }
  }
}

/** Says as long as this process lives that its host is served. */
async function holdLease(journal: Journal, lease: Omit<HostLease, 'until'>) {
  const renew = () => journal.renewLease(lease, LEASE_TTL_MS);
  await renew();
  const timer = setInterval(() => void renew().catch(() => undefined), LEASE_RENEW_MS);
  return {
    drop: async () => {
      clearInterval(timer);
      await journal.dropLease(lease.host).catch(() => undefined);
    },
  };
}

/** Ends what belongs to tasks that have ended: terminating a workflow runs no cleanup. */
function sweep(journal: Journal, commandsDir: string): NodeJS.Timeout {
  let busy = false;
  const isOpenTask = async (task: string) => {
    const row = await journal.getTask(task);
    return row !== undefined && isOpen(row.status);
  };
  const once = async () => {
    if (busy) return;
    busy = true;
    await sweepCommands({ commandsDir, isOpen: isOpenTask }).catch(() => undefined);
    busy = false;
  };
  void once();
  return setInterval(() => void once(), SWEEP_MS);
}

function installRuntime(env: NodeJS.ProcessEnv): void {
  const level = env.LONGHAUL_DEBUG ? 'INFO' : 'WARN';
  Runtime.install({
    logger: new DefaultLogger(level),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }), forward: {} } },
  });
}

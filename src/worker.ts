import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { createActivities } from './activities/index.js';
import { reconcileAll } from './client/reconcile.js';
import { workflowState } from './client/workflow-state.js';
import { LonghaulError } from './domain/errors.js';
import { isOpen } from './domain/outcomes.js';
import { hostQueue, TASK_QUEUE, type WorkerRole } from './domain/queues.js';
import { type HostLease, type Journal, LOCAL_SERVER, type TaskRow } from './journal/journal.js';
import { openJournal } from './journal/open.js';
import { sweepProfiles } from './model/sweep-profiles.js';
import { dropSpareRunner, prepareRunner } from './runner/spare.js';
import { sweepCommands } from './runner/sweep.js';
import { enterRun } from './runs/enter.js';
import { runLookup } from './runs/lookup.js';
import { RunSweeper } from './runs/sweep-runs.js';
import { workerConnection } from './service/connect.js';
import { announceWorkerReady, sayAlive } from './service/worker-process.js';
import { homePaths } from './settings/paths.js';

export type { WorkerRole };

export interface RunWorkerOptions {
  role: WorkerRole;
  /** Name of this host, for the role `host`; by default `LONGHAUL_HOST`, else the machine's host name. */
  host?: string;
  home: string;
  env: NodeJS.ProcessEnv;
}

/** A worker whose lease has run out is taken for dead. */
const LEASE_TTL_MS = 10_000;
const LEASE_RENEW_MS = 3_000;
/** Also at start. */
const SWEEP_MS = 10_000;
const RECONCILE_MS = 30_000;
const TIDY_PROFILES_MS = 3600_000;
const CHECK_JOURNAL_MS = 3_000;

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
  const client = new Client({ connection, namespace });
  const timers = [sayAlive(), watchJournal(journal), reconcileTasks(journal, server, client)];
  process.on('SIGTERM', endingAlready);
  const lease = await holdLease(journal, { host, role, queue, server, pid: process.pid });
  if (role !== 'workflow')
    timers.push(sweep(journal, server, client, homePaths(home).commands), tidyProfiles(home, journal));
  try {
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue: queue,
      identity: `longhaul-${role}@${host}:${process.pid}`,
      ...workOf(role, createActivities({ journal, home, env })),
      maxConcurrentActivityTaskExecutions: 1_000,
      // A cancel is learned from a heartbeat's answer, so heartbeats must not be held back.
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
    for (const timer of timers) clearInterval(timer);
    dropSpareRunner();
    await lease.drop();
    await connection.close();
    await journal.close();
    process.off('SIGTERM', endingAlready);
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

/** Says as long as this process lives that a worker is there. */
async function holdLease(journal: Journal, lease: Omit<HostLease, 'until'>) {
  const renew = () => journal.renewLease(lease, LEASE_TTL_MS);
  await renew();
  const timer = setInterval(() => void renew().catch(() => undefined), LEASE_RENEW_MS);
  return {
    drop: async () => {
      clearInterval(timer);
      await journal.dropLease(lease).catch(() => undefined);
    },
  };
}

/** Ends tasks in the journal whose workflow was terminated or never came about, so that their folders are free. */
function reconcileTasks(journal: Journal, server: string, client: Client): NodeJS.Timeout {
  const look = (task: string) => workflowState(client, task);
  // a task that was reset and waits for somebody starts no activity that would find it out
  const otherRun = ({ task }: TaskRow, run: string) => enterRun(journal, client, task, run);
  return every(RECONCILE_MS, () => reconcileAll({ journal, server, look, otherRun }).catch(() => undefined));
}

/** Ends the process when the journal is no longer the one it has open: what it writes would be seen by nobody. */
function watchJournal(journal: Journal): NodeJS.Timeout {
  return every(CHECK_JOURNAL_MS, async () => {
    try {
      await journal.check();
    } catch (err) {
      if (!LonghaulError.is(err) || err.slug !== 'journal-lost') return;
      console.error(`${new Date().toISOString()} the worker ends: ${err.message}`);
      process.exit(1);
    }
  });
}

/** Runs `act` now and then, never twice at once. */
function every(ms: number, act: () => Promise<void>): NodeJS.Timeout {
  let busy = false;
  const once = async () => {
    if (busy) return;
    busy = true;
    await act();
    busy = false;
  };
  void once();
  return setInterval(() => void once(), ms);
}

/** Ends what belongs to tasks that have ended or were reset: Temporal's Terminate and Reset run no cleanup. */
function sweep(journal: Journal, server: string, client: Client, commandsDir: string): NodeJS.Timeout {
  const isOpenTask = async (task: string) => {
    const row = await journal.getTask(task);
    return row !== undefined && isOpen(row.status);
  };
  const isOpenHere = async (task: string) => (await journal.getTask(task))?.server === server && isOpenTask(task);
  const runs = new RunSweeper({ commandsDir, isOpen: isOpenHere, lookup: runLookup(client) });
  return every(SWEEP_MS, async () => {
    await sweepCommands({ commandsDir, isOpen: isOpenTask }).catch(() => undefined);
    await runs.sweep().catch(() => undefined);
  });
}

function tidyProfiles(home: string, journal: Journal): NodeJS.Timeout {
  return every(TIDY_PROFILES_MS, async () => {
    await sweepProfiles({ home, journal }).catch(() => undefined);
  });
}

/** The runtime listens to the first signal only: without another listener a second one would kill in the middle of the end. */
function endingAlready(): void {}

function installRuntime(env: NodeJS.ProcessEnv): void {
  const level = env.LONGHAUL_DEBUG ? 'INFO' : 'WARN';
  Runtime.install({
    logger: new DefaultLogger(level),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }), forward: {} } },
  });
}

import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { OPEN_STATUSES } from '../domain/outcomes.js';
import type { Journal } from '../journal/journal.js';
import { processRef } from '../service/processes.js';

export interface DeadWorkersOptions {
  journal: Pick<Journal, 'liveWorkers' | 'dropLease' | 'listTasks'>;
  client: Pick<Client, 'workflow' | 'activity'>;
  /** Name of this machine in leases and identities. */
  host: string;
  /** The Temporal server, as the journal names it. */
  server: string;
}

/** How a worker is named at the server: `longhaul-all@build-7:4242`. */
export function workerIdentity(role: string, host: string, pid: number): string {
  return `longhaul-${role}@${host}:${pid}`;
}

/**
 * Takes back what workers of this machine were doing that died without a word, so that it is done again within a second:
 * by itself the server finds out when no heartbeat has come for 15 s. A worker that is only stopped is left alone.
 *
 * @returns how many executions were taken back
 */
export async function releaseDead({ journal, client, host, server }: DeadWorkersOptions): Promise<number> {
  const here = (await journal.liveWorkers()).filter((lease) => lease.host === host && lease.server === server);
  const dead = here.filter(({ pid }) => processRef(pid) === undefined);
  if (dead.length === 0) return 0;
  const names = new Set(dead.map(({ role, pid }) => workerIdentity(role, host, pid)));
  let released = 0;
  for (const { task, ...row } of await journal.listTasks({ statuses: [...OPEN_STATUSES] })) {
    if (row.server === server) released += await releaseTask(client, task, names);
  }
  for (const lease of dead) await journal.dropLease(lease);
  return released;
}

/** @param names identities of the dead workers */
async function releaseTask(client: DeadWorkersOptions['client'], task: string, names: Set<string>): Promise<number> {
  // a task that has ended by now, or is being started
  const found = await client.workflow
    .getHandle(task)
    .describe()
    .catch(() => undefined);
  const left = (found?.raw.pendingActivities ?? []).filter(
    ({ activityId, lastWorkerIdentity }) => activityId && lastWorkerIdentity && names.has(lastWorkerIdentity),
  );
  for (const { activityId, lastWorkerIdentity } of left) {
    const failure = ApplicationFailure.create({
      type: 'WorkerDied',
      message: `The worker ${lastWorkerIdentity} died.`,
    });
    const where = { workflowId: task, runId: found!.runId, activityId: activityId! };
    // it may just have been taken back by the heartbeat's timeout
    await client.activity.fail(where, failure).catch(() => undefined);
  }
  return left.length;
}

import { hostname } from 'node:os';
import { isOpen, type TaskStatus } from '../domain/outcomes.js';
import { decides, TASK_QUEUE, worksInFolders } from '../domain/queues.js';
import type { TaskInput } from '../domain/task.js';
import type { HostLease, TaskRow } from '../journal/rows.js';

/**
 * Whether a task can go on now: one worker decides, and one works in its folder; both on its Temporal server, the
 * second on the queue that the task was started for.
 *
 * @param task its server as the journal names it, and the queue of the workers that work in its folder
 * @param workers those that live, of all servers and queues
 */
export function isServed(task: { server: string; queue: string }, workers: readonly HostLease[]): boolean {
  const here = workers.filter(({ server }) => server === task.server);
  return (
    here.some(({ role }) => decides(role)) &&
    here.some(({ role, queue }) => worksInFolders(role) && queue === task.queue)
  );
}

/** Whether the task of this row can go on now. @param workers those that live */
export function isRowServed(
  { server, input }: Pick<TaskRow, 'server' | 'input'>,
  workers: readonly HostLease[],
): boolean {
  const { hostQueue = TASK_QUEUE } = JSON.parse(input) as Partial<TaskInput>;
  return isServed({ server, queue: hostQueue }, workers);
}

/**
 * The queue of a new task's host: that of this machine's own worker, else of any; undefined where it is the workflows'.
 * @param hosts workers that live and work in folders
 */
export function newTaskQueue(server: string, hosts: readonly HostLease[], env: NodeJS.ProcessEnv): string | undefined {
  const there = hosts.filter((host) => host.server === server);
  const one = there.find(({ host }) => host === (env.LONGHAUL_HOST ?? hostname())) ?? there[0];
  return one === undefined || one.queue === TASK_QUEUE ? undefined : one.queue;
}

/**
 * The status that people see. An open task that nobody works on has `no_worker`, also a parked one, which could not go on
 * when its time has come. One that waits for a person keeps `waiting`: the answer is what it needs first.
 */
export function shownStatus(row: TaskRow, workers: readonly HostLease[]): TaskStatus {
  if (!isOpen(row.status) || row.status === 'waiting' || isRowServed(row, workers)) return row.status;
  return 'no_worker';
}

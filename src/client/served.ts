import { isOpen, type TaskStatus } from '../domain/outcomes.js';
import { TASK_QUEUE } from '../domain/queues.js';
import type { TaskInput } from '../domain/task.js';
import type { HostLease, TaskRow } from '../journal/rows.js';

/**
 * Whether the task can go on now: one worker decides, and one works in its folder; both on its Temporal server, the
 * second on the queue that the task was started for.
 *
 * @param workers those that live, of all servers and queues
 */
export function isServed(row: Pick<TaskRow, 'server' | 'input'>, workers: readonly HostLease[]): boolean {
  const { hostQueue = TASK_QUEUE } = JSON.parse(row.input) as Partial<TaskInput>;
  const here = workers.filter(({ server }) => server === row.server);
  const decides = here.some(({ role }) => role !== 'host');
  return decides && here.some(({ role, queue }) => role !== 'workflow' && queue === hostQueue);
}

/**
 * The status that people see. An open task that nobody works on has `no_worker`, also a parked one, which could not go on
 * when its time has come. One that waits for a person keeps `waiting`: the answer is what it needs first.
 */
export function shownStatus(row: TaskRow, workers: readonly HostLease[]): TaskStatus {
  if (!isOpen(row.status) || row.status === 'waiting' || isServed(row, workers)) return row.status;
  return 'no_worker';
}

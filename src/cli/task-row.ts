import { LonghaulError } from '../domain/errors.js';
import { isOpen, type TaskStatus } from '../domain/outcomes.js';
import type { HostLease, Journal, TaskRow } from '../journal/journal.js';
import { readService } from '../service/up.js';

/** @throws LonghaulError `task-not-found` */
export async function requireTask(journal: Journal, task: string): Promise<TaskRow> {
  const row = await journal.getTask(task);
  if (row) return row;
  throw new LonghaulError('task-not-found', `There is no task ${task}.`, { next: '`longhaul tasks` lists them.' });
}

/** The status that people see: an open task that no worker can serve is not "running". */
export function shownStatus(row: TaskRow, hosts: readonly HostLease[]): TaskStatus {
  const served = hosts.some(({ server }) => server === row.server);
  return isOpen(row.status) && !served ? 'no_worker' : row.status;
}

/** For viewers of tasks on the local service. */
export function serviceRuns(home: string): () => Promise<boolean> {
  return async () => (await readService(home)) !== undefined;
}

/** The task's page in the UI of the running service; undefined when there is none. */
export async function uiPage(home: string, task: string): Promise<string | undefined> {
  const service = await readService(home);
  return service?.ui ? `${service.ui}/namespaces/${service.namespace}/workflows/${task}` : undefined;
}

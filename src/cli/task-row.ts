import { LonghaulError } from '../domain/errors.js';
import type { Journal, TaskRow } from '../journal/journal.js';
import { readService } from '../service/up.js';

/** @throws LonghaulError `task-not-found` */
export async function requireTask(journal: Journal, task: string): Promise<TaskRow> {
  const row = await journal.getTask(task);
  if (row) return row;
  throw new LonghaulError('task-not-found', `There is no task ${task}.`, { next: '`longhaul tasks` lists them.' });
}

/** The task's page in the UI of the running service; undefined when there is none. */
export async function uiPage(home: string, task: string): Promise<string | undefined> {
  const service = await readService(home);
  return service?.ui ? `${service.ui}/namespaces/${service.namespace}/workflows/${task}` : undefined;
}

import { NAMESPACE } from '../devserver/flags.js';
import { LonghaulError } from '../domain/errors.js';
import { isOpen, type TaskStatus } from '../domain/outcomes.js';
import type { HostLease, Journal, TaskRow } from '../journal/journal.js';
import { loadSettings, namedUi } from '../service/named-server.js';
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

/**
 * The task's page in the UI of the running service, or of the server that the environment names; undefined when neither
 * is known.
 */
export async function uiPage(home: string, env: NodeJS.ProcessEnv, task: string): Promise<string | undefined> {
  const settings = loadSettings(env);
  const known = settings ? { ui: namedUi(env), namespace: settings.namespace ?? NAMESPACE } : await readService(home);
  return known?.ui ? `${known.ui}/namespaces/${known.namespace}/workflows/${task}` : undefined;
}

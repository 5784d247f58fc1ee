import { NAMESPACE } from '../devserver/flags.js';
import { LonghaulError } from '../domain/errors.js';
import type { Journal } from '../journal/journal.js';
import type { TaskRow } from '../journal/rows.js';
import { loadSettings, namedUi } from '../service/named-server.js';
import { readService } from '../service/up.js';

/** @throws LonghaulError `task-not-found` */
export async function requireTask(journal: Journal, task: string): Promise<TaskRow> {
  const row = await journal.getTask(task);
  if (row) return row;
  throw new LonghaulError('task-not-found', `There is no task ${task}.`, { next: '`longhaul tasks` lists them.' });
}

/** For viewers of tasks on the local service. */
export function serviceRuns(home: string): () => Promise<boolean> {
  return async () => (await readService(home)) !== undefined;
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

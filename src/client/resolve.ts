import { LonghaulError } from '../domain/errors.js';
import type { Journal } from '../journal/journal.js';

/** The task whose id begins with `prefix`. @throws LonghaulError `task-not-found`, `task-ambiguous` */
export async function resolveTask(journal: Journal, prefix: string): Promise<string> {
  const found = await journal.findTasks(prefix);
  const exact = found.find((id) => id === prefix);
  const [first] = found;
  if (exact ?? (found.length === 1 && first)) return exact ?? first!;
  if (first === undefined) throw notFound(prefix);
  throw new LonghaulError('task-ambiguous', `${prefix} begins several ids: ${found.join(', ')}.`, {
    next: 'Give more of the id.',
  });
}

export function notFound(task: string): LonghaulError {
  return new LonghaulError('task-not-found', `There is no task ${task}.`, {
    next: 'List them with `longhaul tasks`.',
  });
}

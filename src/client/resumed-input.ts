import type { BudgetUse, TaskLimits } from '../domain/budget.js';
import { limitsAnew } from '../domain/limits-anew.js';
import type { Outcome } from '../domain/outcomes.js';
import { forgiveMistakes } from '../domain/start-state.js';
import type { CarriedState } from '../domain/task.js';
import type { Said } from '../domain/turn.js';
import type { TaskRow } from '../journal/rows.js';
import type { Stand } from './rebuild-state.js';

/**
 * What a closed task is taken up again with: where it stands, the message, and its limits anew.
 * @param given limits the task was started with
 * @param used by its task tree
 * @param now ms since the epoch
 */
export function resumedState(
  { state, rebuilt }: Pick<Stand, 'state' | 'rebuilt'>,
  row: Pick<TaskRow, 'status' | 'since'>,
  given: TaskLimits,
  said: Said | undefined,
  used: BudgetUse,
  now: number,
): CarriedState {
  const next = limitsAnew(state, given, used, now);
  if (said) next.messages = [...state.messages, { as: 'user_message', ...said }];
  next.resumed = { endedAt: row.since, after: rebuilt ? 'lost' : (row.status as Outcome['outcome']) };
  forgiveMistakes(next);
  return next;
}

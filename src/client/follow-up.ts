import { LonghaulError } from '../domain/errors.js';
import { isOpen, type Outcome } from '../domain/outcomes.js';
import type { CarriedState, TaskInput } from '../domain/task.js';
import type { UserMessage } from '../domain/turn.js';
import type { Journal } from '../journal/journal.js';
import type { TaskRow } from '../journal/rows.js';
import { notFound } from './resolve.js';

/** @returns undefined while the journal has it open. @throws LonghaulError `task-not-found`, `task-closed` */
export async function closedTask(journal: Journal, task: string): Promise<(TaskRow & { carried: string }) | undefined> {
  const row = await journal.getTask(task);
  if (!row) throw notFound(task);
  if (isOpen(row.status)) return undefined;
  const { carried } = row;
  if (carried !== null) return { ...row, carried };
  throw new LonghaulError('task-closed', `Task ${task} has ended without leaving a state to go on from.`, {
    kept: 'Its log and conversation.',
    next: 'Start a new task with `longhaul run`.',
  });
}

/**
 * What a closed task is taken up again with: where it stood, the message, and its limits anew.
 * @param now ms since the epoch
 */
export function followUpInput(
  row: TaskRow & { carried: string },
  message: Pick<UserMessage, 'text' | 'attachments'>,
  now: number,
): TaskInput {
  const input = JSON.parse(row.input) as TaskInput;
  const state = JSON.parse(row.carried) as CarriedState;
  const { maxTimeMs, maxTurns } = input.settings.limits;
  if (maxTurns !== undefined) input.settings.limits.maxTurns = state.turns + maxTurns;
  const next: CarriedState = {
    ...state,
    ...(maxTimeMs === undefined ? {} : { deadlineAt: now + maxTimeMs }),
    startedAt: now,
    mistakes: 0,
    messages: [...state.messages, { as: 'user_message', ...message }],
    resumed: { endedAt: row.since, after: isOpen(row.status) ? 'lost' : (row.status as Outcome['outcome']) },
  };
  return { ...input, state: next };
}

import type { BlobRef } from '../domain/blocks.js';
import type { CarriedState, TaskInput } from '../domain/task.js';
import type { TaskRow } from '../journal/journal.js';

/**
 * What a closed task is taken up again with: where it stood, the message, and its limits anew.
 * @param now ms since the epoch
 */
export function followUpInput(row: TaskRow & { carried: string }, message: BlobRef, now: number): TaskInput {
  const input = JSON.parse(row.input) as TaskInput;
  const state = JSON.parse(row.carried) as CarriedState;
  const { maxTimeMs, maxTurns } = input.settings.limits;
  if (maxTurns !== undefined) input.settings.limits.maxTurns = state.turns + maxTurns;
  const next: CarriedState = {
    ...state,
    ...(maxTimeMs === undefined ? {} : { deadlineAt: now + maxTimeMs }),
    startedAt: now,
    mistakes: 0,
    messages: [...state.messages, { as: 'user_message', text: message }],
    notices: [...state.notices, 'follow_up'],
    followUp: true,
  };
  return { ...input, state: next };
}

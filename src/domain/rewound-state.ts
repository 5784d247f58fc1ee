import type { TextRef } from './blocks.js';
import type { ConversationEnd } from './rewind.js';
import { forgiveMistakes } from './start-state.js';
import type { CarriedState } from './task.js';

/** The conversation of a task, with what joins it only with the next request. */
export function conversationEnd({ head, carryOver, previous, inProgress }: CarriedState): ConversationEnd {
  const turn = inProgress?.turn ?? previous?.turn;
  if (turn !== undefined) return { head, turn };
  return carryOver === undefined ? { head } : { head, carryOver };
}

/**
 * Takes a task's state back to a place in its conversation. A turn that is in progress ends there; it counts.
 * @param text goes with the next request
 */
export function rewoundState(carried: CarriedState, to: ConversationEnd, text: TextRef | undefined): void {
  const { inProgress, previous } = carried;
  if (inProgress) carried.turns++;
  delete carried.inProgress;
  delete carried.previous;
  delete carried.carryOver;
  carried.head = to.head;
  if (to.carryOver) carried.carryOver = to.carryOver;
  if (to.turn !== undefined) {
    const { turn, verdicts } = inProgress ?? previous ?? { turn: to.turn, verdicts: [] };
    const rest = previous?.rest ?? 'interrupted';
    carried.previous = { turn: to.turn, verdicts: turn === to.turn ? verdicts : [], rest };
  }
  if (text !== undefined) carried.messages.push({ as: 'user_message', text });
  const mode = carried.mode === 'plan' ? 'plan_mode' : 'act_mode';
  carried.notices = ['rewound', mode];
  delete carried.lastActRespond;
  forgiveMistakes(carried);
}

import type { Ask } from './asks.js';
import type { TaskStatus } from './outcomes.js';

/** What the updates and the query of a task reply with. */
export interface AnswerReply {
  ask: string;
  /** The same client id had been applied before. */
  duplicate: boolean;
}

export interface SendReply {
  queued: number;
  duplicate: boolean;
}

export interface StatusReply {
  status: TaskStatus;
  turns: number;
  /** USD */
  cost: number;
  asks: Ask[];
  queued: number;
}

/** Types of the failures that an update is refused with. */
export const REFUSALS = ['AskRefused', 'TaskClosing', 'TaskBusy', 'BadMessage'] as const;
export type RefusalType = (typeof REFUSALS)[number];

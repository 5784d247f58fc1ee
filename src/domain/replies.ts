import type { Ask } from './asks.js';
import type { TaskLimits } from './budget.js';
import type { Mode } from './modes.js';
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
  tokens: number;
  asks: Ask[];
  queued: number;
  mode: Mode;
  limits: TaskLimits;
  /** ms since the epoch; null when the task is not paused */
  pausedAt: number | null;
  /** ms since the epoch; null when it is not parked */
  parkedUntil: number | null;
}

export interface ModeReply {
  mode: Mode;
  /** It was in that mode before. */
  unchanged: boolean;
}

export interface LimitsReply {
  limits: TaskLimits;
}

export interface PauseReply {
  /** It was so before. */
  unchanged: boolean;
}

export interface RewindReply {
  /** Messages that are left, and that were taken back. */
  kept: number;
  dropped: number;
}

/** Types of the failures that an update is refused with. */
export const REFUSALS = [
  'AskRefused',
  'TaskClosing',
  'TaskBusy',
  'BadMessage',
  'BadArgument',
  'MessageNotFound',
  'WrongState',
] as const;
export type RefusalType = (typeof REFUSALS)[number];

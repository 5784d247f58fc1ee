import type { BudgetLimit } from './outcomes.js';

/** Limits of a task, for its whole tree; absent means none. */
export interface TaskLimits {
  maxTurns?: number;
  /** Tokens of all kinds, failed attempts included. */
  maxTokens?: number;
  /** USD */
  maxCost?: number;
  /** ms of wall time, waiting for people included, pauses not */
  maxTimeMs?: number;
  /** Of any limit: once so much of it is used, a person is asked whether to go on to the limit itself. */
  softPercent?: number;
}

/** What the ledger of a task tree holds against: sums over the tree since its start. */
export interface BudgetCaps {
  turns?: number;
  tokens?: number;
  /** USD */
  cost?: number;
}

/** What a task tree has used: settled attempts, failed ones included. */
export interface BudgetUse {
  turns: number;
  tokens: number;
  /** USD */
  cost: number;
}

export const NOTHING_USED: BudgetUse = { turns: 0, tokens: 0, cost: 0 };

/** A claim was refused: the rest of the budget does not pay for another request. */
export interface BudgetSpent {
  limit: Exclude<BudgetLimit, 'time'>;
  /** In the limit's own unit; what is reserved for running requests counts as used. */
  used: number;
  cap: number;
}

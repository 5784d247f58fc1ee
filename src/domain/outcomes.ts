import type { TextRef } from './blocks.js';
import type { Usage } from './usage.js';

/** How a task ended. `needs_human` is no end: see {@link RunOutcome}. */
export type Outcome =
  | { outcome: 'completed'; result: TextRef }
  | { outcome: 'budget'; limit: BudgetLimit; message: string }
  | { outcome: 'cancelled' }
  | { outcome: 'failed'; class: FailedClass; message: string };

export type BudgetLimit = 'turns' | 'cost' | 'tokens' | 'time';

/** Why a task ended as `failed`. */
export type FailedClass = 'mistake_limit' | 'provider' | 'journal_lost' | 'workspace' | 'internal';

/** Totals of a task, each attempt counted once. `cost` is in USD. */
export interface Totals {
  turns: number;
  usage: Usage;
  cost: number;
}

export type TaskResult = Outcome & { totals: Totals };

/** What `run` and `attach` report: an outcome, or that they left while the task waits for a person. */
export type RunOutcome =
  | Outcome
  /** `until`: the task goes on by itself then, ms since the epoch */
  | { outcome: 'needs_human'; ask: string; question: string; until?: number };

/** Exit codes of the command line (docs/cli.md). */
export const EXIT = {
  completed: 0,
  failed: 1,
  usage: 2,
  needs_human: 3,
  budget: 4,
  no_temporal: 5,
  aborted: 130,
} as const;

export function exitCodeOf(outcome: RunOutcome): number {
  switch (outcome.outcome) {
    case 'completed':
      return EXIT.completed;
    case 'budget':
      return EXIT.budget;
    case 'cancelled':
      return EXIT.aborted;
    case 'failed':
      return EXIT.failed;
    case 'needs_human':
      return EXIT.needs_human;
  }
}

/** Status that people see: in lists, in the search attribute `LonghaulStatus`, in the task log. */
export type TaskStatus =
  | 'starting'
  | 'running'
  | 'waiting'
  | 'parked'
  | 'paused'
  | 'aborting'
  | 'no_worker'
  | Outcome['outcome'];

export const OPEN_STATUSES: readonly TaskStatus[] = [
  'starting',
  'running',
  'waiting',
  'parked',
  'paused',
  'aborting',
  'no_worker',
];

export function isOpen(status: TaskStatus): boolean {
  return OPEN_STATUSES.includes(status);
}

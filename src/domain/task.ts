import type { BlobRef } from './blocks.js';
import type { Head, TaskId, TurnKey } from './ids.js';
import type { ApprovalPolicy } from './policy.js';
import type { JournalId, TurnEnd, UserMessage } from './turn.js';

/** Limits of a task; absent means none. */
export interface TaskLimits {
  maxTurns?: number;
  /** ms of wall time, waiting for people included */
  maxTimeMs?: number;
}

/** Settings fixed when a task starts. */
export interface TaskSettings {
  model: string;
  profile: string;
  policy: ApprovalPolicy;
  limits: TaskLimits;
  /** Consecutive mistakes before the mistake limit (the original's `maxConsecutiveMistakes`: 3). */
  maxConsecutiveMistakes: number;
}

/** Argument of `taskWorkflow`. */
export interface TaskInput {
  v: 1;
  task: TaskId;
  journal: JournalId;
  workspace: string;
  epoch: number;
  /** Task queue of the host that owns the workspace; absent when it is the workflow's own. */
  hostQueue?: string;
  prompt: BlobRef;
  settings: TaskSettings;
  /** Present in every run but a task's first. */
  state?: CarriedState;
}

/** What a run hands to the next one; stays under 8 KB however long the task. */
export interface CarriedState {
  head: Head;
  turns: number;
  requests: number;
  mistakes: number;
  startedAt: number;
  deadlineAt?: number;
  previous?: TurnEnd;
  /** A turn whose calls are not all answered yet: where to go on. */
  turnInProgress?: { turn: TurnKey; nextBlock: number; verdicts: TurnEnd['verdicts'] };
  messages: UserMessage[];
  notices: string[];
  /** Short hashes of client ids already applied, newest last, joined without a separator (16 characters each). */
  seen: string;
  profile: string;
  /** Ids of asks settled lately, to tell a second answer from a wrong one. */
  settledAsks: string[];
  /** Signatures of the last calls, for loop detection. */
  recentCalls: string[];
  /** Set when a closed task is taken up again. */
  followUp?: true;
}

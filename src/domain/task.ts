import type { BlobRef } from './blocks.js';
import type { Head, TaskId, TurnKey } from './ids.js';
import type { ApprovalPolicy } from './policy.js';
import type { JournalId, Notice, StopReason, TurnEnd, UserMessage, Verdict } from './turn.js';

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
  mistakes: number;
  /** Answers in a row without any content. */
  emptyAnswers: number;
  /** ms since the epoch */
  startedAt: number;
  /** ms since the epoch; absent when the task has no time limit */
  deadlineAt?: number;
  /** The last finished turn, not part of `head` yet. */
  previous?: TurnEnd;
  /** A turn whose calls are not all answered yet: where to go on. */
  inProgress?: TurnInProgress;
  messages: UserMessage[];
  notices: Notice[];
  /** Short hashes of client ids already applied, oldest first, joined without a separator. */
  seen: string;
  profile: string;
  /** Ids of asks settled lately, to tell a second answer from a wrong one. */
  settledAsks: string[];
  /** USD, all attempts */
  cost: number;
  /** Set by the client that takes a closed task up again. */
  followUp?: true;
}

/** A turn whose answer is closed: what is left is to run its calls from `nextBlock` on. */
export interface TurnInProgress {
  turn: TurnKey;
  stop: StopReason;
  callCount: number;
  hasText: boolean;
  nextBlock: number;
  verdicts: Verdict[];
  /** A person has refused a call of this turn: the others are skipped. */
  rejected: boolean;
}

import type { AttachmentsRef } from './attachments.js';
import type { BlobRef } from './blocks.js';
import type { BudgetUse, TaskLimits } from './budget.js';
import type { Head, TaskId, TurnKey } from './ids.js';
import type { Mode } from './modes.js';
import type { CarryOver } from './rewind.js';
import type { Resumed, TaskSettings } from './settings.js';
import type { Todo } from './todo.js';
import type { JournalId, Notice, StopReason, TurnEnd, UserMessage, Verdict } from './turn.js';

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
  /** Images and files that came with the prompt. */
  attachments?: AttachmentsRef;
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
  /** Requests of the turn to come that have failed already. */
  failedTries?: number;
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
  /** Of the task tree, as the last request found it. */
  used: BudgetUse;
  mode: Mode;
  /** The limits in force: absolute, so that what was used before counts. */
  limits: TaskLimits;
  /** What had been used when the task was taken up again, and its limits began to count anew; absent: nothing. */
  limitsBase?: BudgetUse;
  /** A person has set the limits since the last run ended: the next one is held to them as they are. */
  limitsSet?: true;
  /** The soft limit has been asked about. */
  softAsked?: true;
  /** Hashes of the calls made lately, oldest first, joined without a separator: what loop detection looks at. */
  recentCalls: string;
  /** A loop has gone on for too long: the next turn asks, whatever succeeds in between. */
  looping?: true;
  /** Answers in a row that were cut by `max_tokens` inside a call. */
  truncations: number;
  /** The todo list, and how many requests there were since it was last given. */
  todo?: Todo;
  requestsSinceTodo: number;
  /** The last answer's only act was `act_mode_respond`. */
  lastActRespond?: true;
  /** Set while a person keeps the task from going on; ms since the epoch. */
  pausedAt?: number;
  /** Pauses that are over, ms in all: the limit on wall time does not count them. */
  pausedMs: number;
  /** What the next request begins its new message with, after a rewind. */
  carryOver?: CarryOver;
  /** Set by the client that takes a closed task up again. */
  resumed?: Resumed;
}

/** A turn whose answer is closed: what is left is to run its calls from `nextBlock` on. */
export interface TurnInProgress {
  turn: TurnKey;
  mode: Mode;
  stop: StopReason;
  callCount: number;
  nextBlock: number;
  verdicts: Verdict[];
  /** A person has refused a call of this turn: the others are skipped. */
  rejected: boolean;
  /** The rest of the budget paid for an answer of so many tokens only. */
  clamped?: true;
}

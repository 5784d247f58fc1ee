import type { Answer, AnswerSource, Ask } from './asks.js';
import type { Attachment, AttachmentsRef } from './attachments.js';
import type { BlobRef, TextRef } from './blocks.js';
import type { TaskLimits } from './budget.js';
import type { CallStatus } from './calls.js';
import type { FailureClass } from './failures.js';
import type { CallKey, Head, TurnKey } from './ids.js';
import type { Mode } from './modes.js';
import type { Outcome, TaskStatus, Totals } from './outcomes.js';
import type { CarryOver } from './rewind.js';
import type { Usage } from './usage.js';

/**
 * The task log: what people see of a task, append-only, ordered by `seq`. `say` and `ask` are the only two ways out
 * of a task; the other types tell how to read them. Kind names are the original's.
 */
export type TaskEvent =
  | SayEvent
  | AskEvent
  | AskReminderEvent
  | AskClosedEvent
  | RetractEvent
  | RewoundEvent
  | StatusEvent
  | PauseEvent
  | ModeEvent
  | LimitsEvent
  | ClosedEvent;

export type SayEvent = { type: 'say' } & (
  | { say: 'task'; text: string; workspace: string; model: string; attachments?: Attachment[] }
  | { say: 'user_feedback'; text: string; attachments?: Attachment[] }
  /** The todo list, whenever it was given anew. */
  | { say: 'task_progress'; text: string; done: number; total: number }
  /** The final text of a block; it replaces the block's partials. */
  | { say: 'text' | 'reasoning'; turn: TurnKey; attempt: number; block: number; text: string }
  | { say: 'api_req_started'; turn: TurnKey; attempt: number; number: number; model: string }
  | {
      say: 'api_req_finished';
      turn: TurnKey;
      attempt: number;
      /** The provider's stop reason, or why there is none. */
      stop: string;
      usage: Usage;
      /** USD */
      cost: number;
      /** The usage was not reported whole, so it is an estimate. */
      estimated?: boolean;
    }
  | {
      say: 'error_retry';
      turn: TurnKey;
      class: FailureClass;
      message: string;
      tries: number;
      maxTries: number;
      delayMs: number;
    }
  | { say: 'error'; slug: string; text: string }
  | { say: 'info'; text: string }
  /** A tool call begins; `command` when it runs one. */
  | { say: 'tool' | 'command'; turn: TurnKey; call: CallKey; tool: string; summary: string }
  /** A call has its result. For commands `text` is the bounded output. */
  | {
      say: 'tool_result' | 'command_output';
      call: CallKey;
      tool: string;
      status: CallStatus;
      text: string;
      ms: number;
      /** What an edit has changed. */
      change?: FileChange;
    }
  | { say: 'completion_result'; text: string }
);

/** Lines added to and removed from one file, and a unified diff for reading, which may be cut. */
export interface FileChange {
  added: number;
  removed: number;
  diff: TextRef;
}

export interface AskEvent {
  type: 'ask';
  ask: Ask;
  /** The JSON that answers it from the Temporal UI. */
  reply: string;
}

export interface AskClosedEvent {
  type: 'ask_closed';
  ask: string;
  by: 'person' | 'default' | 'cancelled';
  answer: Answer['answer'];
  text?: string;
  /** A longer text, whole. */
  textRef?: BlobRef;
  attached?: AttachmentsRef;
  who?: string;
  /** Absent: straight from Temporal. */
  from?: AnswerSource;
}

/** An ask is still open. */
export interface AskReminderEvent {
  type: 'ask_reminder';
  ask: string;
  /** 1 for the first */
  count: number;
}

/** A person has taken the conversation back to an earlier message; the log stays, what is void of it is said here. */
export interface RewoundEvent {
  type: 'rewound';
  /** The conversation from now on; its last message is this one, or begins the next request. */
  head: Head;
  carryOver?: CarryOver;
  /** The answer that is the last message: it joins the conversation with the next request. */
  turn?: TurnKey;
  /** Goes with the next request. */
  said?: TextRef;
  /** Messages that are left, and that were taken back. */
  kept: number;
  dropped: number;
}

/** A person keeps the task from going on, or lets it go on again. The status follows when the present step has ended. */
export interface PauseEvent {
  type: 'pause';
  paused: boolean;
}

/** From the next turn on. */
export interface ModeEvent {
  type: 'mode';
  mode: Mode;
}

/** The limits in force from now on. */
export interface LimitsEvent {
  type: 'limits';
  limits: TaskLimits;
}

/** Everything shown of this attempt is void: its final blocks, its partials. */
export interface RetractEvent {
  type: 'retract';
  turn: TurnKey;
  attempt: number;
  reason: string;
}

export interface StatusEvent {
  type: 'status';
  status: TaskStatus;
  /** ms since the epoch, with `parked` */
  until?: number;
  reason?: string;
}

/** A run of the task has ended; a later one may follow under the same id. */
export interface ClosedEvent {
  type: 'closed';
  outcome: Outcome;
  totals: Totals;
}

/** An event as stored: `seq` counts from 1 without gaps in each task; `at` is ms since the epoch. */
export interface StoredEvent {
  task: string;
  seq: number;
  at: number;
  event: TaskEvent;
}

/**
 * A piece of something that is still arriving. `stream` is a call key (turn and block number) for the model's text,
 * reasoning and tool input, or `<call key>:out` for a command's output. `offset` counts UTF-16 units from the start of
 * the stream in this attempt, so that pieces can be joined, and repeats recognised. Partials are kept until the final
 * event replaces them, and have no `seq`.
 */
export interface Partial {
  task: string;
  turn: TurnKey;
  stream: string;
  attempt: number;
  kind: 'text' | 'reasoning' | 'tool_input' | 'command_output';
  offset: number;
  text: string;
}

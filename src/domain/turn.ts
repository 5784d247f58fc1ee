import type { TextRef } from './blocks.js';
import type { AnswerCall, CallStatus, PreparedCall, RanCall } from './calls.js';
import type { ProviderFailure } from './failures.js';
import type { CallKey, Head, TaskId, TurnKey } from './ids.js';
import type { ApprovalPolicy } from './policy.js';

/** Which journal a task's references point into. A mismatch means that calls in flight are unknown. */
export interface JournalId {
  id: string;
  generation: number;
}

/** What every activity needs to know of its task. */
export interface TaskRef {
  task: TaskId;
  journal: JournalId;
  /** Real path of the workspace on its host. */
  workspace: string;
  /** Grows when another host takes the workspace over. */
  epoch: number;
}

/** The settings one turn works with, taken once at its start. */
export interface TurnSettings {
  model: string;
  /** Name of the provider profile; never the key itself. */
  profile: string;
  policy: ApprovalPolicy;
}

/** Fixed notices to the model; their wording is in prompts/. */
export type Notice = 'no_tool_used' | 'empty_answer' | 'cut_by_max_tokens' | 'go_on' | 'follow_up';

/**
 * How a call ended that no tool activity answered: its result is made from this. Calls with neither a stored result
 * nor a verdict get `rest`.
 */
export interface Verdict {
  block: number;
  status: CallStatus;
  /** What the person said with it, or the answer to the control tool. */
  text?: TextRef;
  /** Instead of a text: a fixed one, whose wording is in prompts/. */
  note?: VerdictNote;
}

export type VerdictNote = 'nobody_answers' | 'result_taken';

/** What a finished turn leaves for the next request to add to the conversation. */
export interface TurnEnd {
  turn: TurnKey;
  verdicts: Verdict[];
  rest: 'skipped' | 'interrupted';
}

/** What a person said, waiting to be delivered. `as` chooses the wrapper that tells the model what it is. */
export interface UserMessage {
  as: 'task' | 'user_message' | 'feedback';
  text: TextRef;
}

export interface StreamInput extends TaskRef {
  turn: TurnKey;
  /** Number of the turn in the task, from 1. */
  number: number;
  head: Head;
  previous?: TurnEnd;
  messages: UserMessage[];
  notices: Notice[];
  settings: TurnSettings;
}

export type StopReason =
  | 'tool_use'
  | 'end_turn'
  | 'max_tokens'
  | 'refusal'
  | 'pause_turn'
  | 'stop_sequence'
  | 'interrupted';

export type StreamResult =
  | {
      status: 'answered';
      /** The conversation that was sent; the answer joins it with the next request. */
      head: Head;
      attempt: number;
      stop: StopReason;
      /** Calls in the answer's order, as many as fit; `callCount` says how many there are in all. */
      calls: AnswerCall[];
      callCount: number;
      /** The answer holds text that is not blank. */
      hasText: boolean;
      /** USD, this attempt */
      cost: number;
    }
  | { status: 'failed'; attempt: number; failure: ProviderFailure; cost: number };

/** Signal from a streaming answer: this call is complete and committed, start it. */
export interface CallReady {
  turn: TurnKey;
  attempt: number;
  call: PreparedCall;
  /** Calls before it that have run already, as far as no signal has said so. */
  ran?: RanCall[];
}

export interface ToolInput extends TaskRef {
  turn: TurnKey;
  call: CallKey;
  tool: string;
  policy: ApprovalPolicy;
  /** A person has seen and approved this very call: against which file content, and whether outside the workspace. */
  approved?: { base?: string; outside: boolean };
}

/** One page of a turn's calls, from block `from` on. */
export interface CallPage {
  calls: AnswerCall[];
  /** Block number to ask for next; absent on the last page. */
  next?: number;
}

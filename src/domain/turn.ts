import type { AttachmentsRef } from './attachments.js';
import type { TextRef } from './blocks.js';
import type { BudgetCaps, BudgetSpent, BudgetUse } from './budget.js';
import type { AnswerCall, CallStatus, PreparedCall, RanCall } from './calls.js';
import type { ProviderFailure } from './failures.js';
import type { CallKey, Head, TaskId, TurnKey } from './ids.js';
import type { Mode } from './modes.js';
import type { ApprovalPolicy } from './policy.js';
import type { CarryOver } from './rewind.js';
import type { FocusChainSettings, Resumed, ToolProtocol } from './settings.js';
import type { Todo } from './todo.js';

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
  mode: Mode;
  strictPlanMode: boolean;
  toolProtocol: ToolProtocol | 'auto';
  focusChain: FocusChainSettings;
}

/** Notices to the model; their wording is in prompts/. */
export type Notice =
  | 'no_tool_used'
  | 'empty_answer'
  | 'cut_by_max_tokens'
  | 'go_on'
  /** The same calls come again and again. */
  | 'loop'
  | 'plan_mode'
  | 'act_mode'
  /** A person has taken the conversation back to here. */
  | 'rewound'
  /** No todo list yet, or none for so many requests. */
  | { notice: 'todo'; requests: number; todo?: Todo }
  | { notice: 'resumed'; agoMs: number; after: Resumed['after']; mode: Mode; withText: boolean };

/**
 * How a call ended that no tool activity answered: its result is made from this. Calls with neither a stored result
 * nor a verdict get `rest`.
 */
export interface Verdict {
  block: number;
  status: CallStatus;
  /** What the person said with it, or the answer to the control tool. */
  text?: TextRef;
  /** The wrapper of `text`; default `feedback`. */
  as?: 'answer' | 'user_message' | 'feedback';
  attachments?: AttachmentsRef;
  /** Instead of a text: a fixed one, whose wording is in prompts/. */
  note?: VerdictNote;
}

export type VerdictNote =
  | 'nobody_answers'
  | 'result_taken'
  /** plan_mode_respond with `needs_more_exploration`. */
  | 'explore_on'
  /** plan_mode_respond where nobody answers: the plan is to be carried out. */
  | 'carry_out'
  /** Nobody has said anything about the plan. */
  | 'plan_unanswered'
  /** The person has switched to act mode. */
  | 'switched_to_act'
  /** act_mode_respond was taken. */
  | 'go_on'
  | 'only_in_act_mode'
  /** act_mode_respond twice in a row. */
  | 'do_real_work';

/** What a finished turn leaves for the next request to add to the conversation. */
export interface TurnEnd {
  turn: TurnKey;
  verdicts: Verdict[];
  rest: 'skipped' | 'interrupted';
}

/** What a person said: words, maybe with images and files. */
export type Said = Pick<UserMessage, 'text' | 'attachments'>;

/** What a person said, waiting to be delivered. `as` chooses the wrapper that tells the model what it is. */
export interface UserMessage {
  as: 'task' | 'user_message' | 'feedback';
  text: TextRef;
  attachments?: AttachmentsRef;
  /** Given when it is taken for a request: it may be taken again, and is in the task log once. */
  id?: string;
}

export interface StreamInput extends TaskRef {
  turn: TurnKey;
  /** Number of the turn in the task, from 1. */
  number: number;
  head: Head;
  carryOver?: CarryOver;
  previous?: TurnEnd;
  messages: UserMessage[];
  notices: Notice[];
  settings: TurnSettings;
  /** Root of the task tree, whose ledger pays; absent: the task itself. */
  root?: TaskId;
  /** Held against the ledger by the claim; absent: no limit. */
  caps?: BudgetCaps;
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
      /** It could be only as long as the rest of the budget pays. */
      clamped?: true;
      /** Of an answer without any content, which only then has this: the provider's id of the request, or blank. */
      requestId?: string;
      used: BudgetUse;
    }
  | { status: 'failed'; attempt: number; failure: ProviderFailure; used: BudgetUse }
  /** Nothing was asked: the budget does not pay for it. */
  | { status: 'spent'; spent: BudgetSpent; used: BudgetUse };

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
  /** The turn is one of strict plan mode: no edit is carried out. Absent: it is not. */
  noEdits?: boolean;
  /** A person has seen and approved this very call: against which file content, and whether outside the workspace. */
  approved?: { base?: string; outside: boolean };
}

/** One page of a turn's calls, from block `from` on. */
export interface CallPage {
  calls: AnswerCall[];
  /** Block number to ask for next; absent on the last page. */
  next?: number;
}

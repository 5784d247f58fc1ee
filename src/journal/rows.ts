import type { AnswerBlock, Message, TextRef } from '../domain/blocks.js';
import type { BudgetSpent } from '../domain/budget.js';
import type { CallStatus, PreparedCall } from '../domain/calls.js';
import type { TaskEvent } from '../domain/events.js';
import type { CallKey, Head, TaskId, TurnKey } from '../domain/ids.js';
import type { TaskStatus } from '../domain/outcomes.js';
import type { WorkerRole } from '../domain/queues.js';
import type { StopReason } from '../domain/turn.js';
import type { Usage } from '../domain/usage.js';

/** Row of a task as lists show it. */
export interface TaskRow {
  task: TaskId;
  /** ms since the epoch */
  created: number;
  workspace: string;
  model: string;
  /** First 200 characters of the prompt, on one line. */
  title: string;
  /** The Temporal server its workflow is on. */
  server: string;
  status: TaskStatus;
  /** ms since the epoch of the last status change */
  since: number;
  turns: number;
  /** USD */
  cost: number;
  /** The `TaskInput` the task was started with, as JSON. */
  input: string;
  /**
   * `CarriedState` as JSON: what the last run has left when it closed; or, with `resumed`, what the last run has begun
   * from. Null where there is neither.
   */
  carried: string | null;
  /** Number of its last event. */
  seq: number;
  /** Temporal's id of the newest run that has done something; null before the first. */
  run: string | null;
  /** Provider profile that the newest request was made with, or the first one will be; null when that is not known. */
  profile: string | null;
}

/** Names the embedded Temporal server, whose address may change. Other servers are `address/namespace`. */
export const LOCAL_SERVER = 'local';

/** A worker that lives. */
export interface HostLease {
  /** The machine whose workspaces it serves. */
  host: string;
  role: WorkerRole;
  queue: string;
  /** The Temporal server that its worker polls. */
  server: string;
  pid: number;
  /** ms since the epoch */
  until: number;
}

/** How a closed task is taken up again. */
export interface Reopening {
  /** `seq` of the task when it was read. */
  seq: number;
  /** The `CarriedState` that the run begins with, as JSON. */
  carried: string;
  /** Where the run is, when that is another server than before. */
  moved?: { server: string; input: string };
  /** Said with it. */
  events: TaskEvent[];
}

/** What a reset takes back; see `Journal.enterRun`. */
export interface Restart {
  /** Turns that count. */
  turns: number;
  /** Appended to the log; the first one makes a closed task open again. */
  events: TaskEvent[];
}

/** A claim of a turn's model request. */
export type TurnClaim =
  /** The caller holds attempt `attempt` and may stream up to `maxTokens` of output: as many as wanted, or as the rest pays. */
  | { claim: 'granted'; attempt: number; head: Head; maxTokens: number }
  /** An answer exists already: closed earlier, or closed just now because it was committed and left behind. */
  | { claim: 'closed'; turn: TurnRow }
  /** The rest of the budget does not pay for the request. Nothing was reserved, stored or said. */
  | { claim: 'spent'; spent: BudgetSpent };

export interface TurnRow {
  turn: TurnKey;
  task: TaskId;
  /** The conversation that was sent. */
  head: Head;
  attempt: number;
  state: 'open' | 'committed' | 'closed';
  stop: StopReason | null;
  blocks: AnswerBlock[];
  calls: PreparedCall[];
  usage: Usage;
  cost: number;
}

/** What the first claim of a turn adds to the conversation; the claim's `head` is the one after `messages`. */
export interface TurnOpening {
  parent: Head;
  messages: Message[];
}

export interface UsageRow {
  turn: TurnKey;
  attempt: number;
  model: string;
  usage: Usage;
  cost: number;
  /** Set by a crash: the provider never said. */
  estimated: boolean;
}

/** The stored result of a tool call. */
export interface ToolResultRow {
  call: CallKey;
  status: CallStatus;
  /** What the model gets; never blank. */
  text: TextRef;
  excerpt: string;
  mistake: boolean;
}

/** A result with what people see of it. */
export interface NewResult {
  row: ToolResultRow;
  events: NewEvent[];
}

/** An event to be appended; one with a `key` that the task's log holds already is skipped. */
export interface NewEvent {
  key?: string;
  event: TaskEvent;
}

/** A finished block of an answer with what people see of it. */
export interface NewBlock {
  index: number;
  content: AnswerBlock;
  call?: PreparedCall;
  say?: TaskEvent;
  /** Said besides; only with blocks of an attempt that is committed, or closed with them. */
  events?: NewEvent[];
}

/**
 * What a request can use. The claim sets it aside in the ledger until the attempt is settled. One that was left behind
 * is settled with this input, and what was streamed of the output.
 */
export interface Reservation {
  model: string;
  /** Estimate of the input. */
  inputTokens: number;
  /** USD, of the input, at most */
  inputCost: number;
  /** USD per token */
  outputPrice: number;
  /** Output tokens that are wanted. */
  maxTokens: number;
}

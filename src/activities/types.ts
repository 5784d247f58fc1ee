import type { Ask } from '../domain/asks.js';
import type { TextRef } from '../domain/blocks.js';
import type { PreparedCall, ToolRun } from '../domain/calls.js';
import type { TaskEvent } from '../domain/events.js';
import type { Outcome, TaskResult } from '../domain/outcomes.js';
import type { ApprovalPolicy } from '../domain/policy.js';
import type { ConversationEnd, RewindPlace } from '../domain/rewind.js';
import type { CarriedState } from '../domain/task.js';
import type { CallPage, StreamInput, StreamResult, TaskRef, ToolInput } from '../domain/turn.js';

/** Activities that touch the workspace, so they run on the host that owns it. */
export interface HostActivities {
  /** Asks the model and stores its answer; see docs/how-it-works.md. */
  streamModel(input: StreamInput): Promise<StreamResult>;
  /** Runs one call, or finds out what became of an earlier execution of it. */
  runTool(input: ToolInput): Promise<ToolRun>;
  /** Computes a call's path, diff and base again, after an earlier call of the same turn has changed something. */
  prepareCall(input: TaskRef & { call: string; policy?: ApprovalPolicy }): Promise<PreparedCall>;
  /** At the end of a task: no process of it is left, and no temporary file of an edit. */
  endProcesses(input: TaskRef): Promise<void>;
}

/** Activities that need the journal only. */
export interface ControlActivities {
  appendLog(input: TaskRef & { key: string; events: TaskEvent[] }): Promise<void>;
  /** Calls of a closed turn from block `from` on, one page. */
  listCalls(input: TaskRef & { turn: string; from: number }): Promise<CallPage>;
  /** A message of the conversation, by number or id, and how the conversation stands once it is the last one. */
  findMessage(input: TaskRef & { end: ConversationEnd; message: string }): Promise<RewindPlace | { problem: string }>;
  /** Moves text out of the workflow's state into the journal. */
  storeText(input: TaskRef & { text: string }): Promise<TextRef>;
  /** Last act of a run that closes: the log's `closed` event, and the state a follow-up starts from. */
  closeTask(input: CloseInput): Promise<TaskResult>;
}

export interface CloseInput extends TaskRef {
  key: string;
  outcome: Outcome;
  turns: number;
  /** Asks that end unanswered. */
  asks: Ask[];
  carried: CarriedState;
}

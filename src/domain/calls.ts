import type { CallProblem, TextRef } from './blocks.js';
import type { CallKey } from './ids.js';
import type { Todo } from './todo.js';

/** What a crash means for a tool (docs/tools.md). */
export type EffectClass = 'pure' | 'checkable' | 'attachable' | 'opaque' | 'control';

/** What has to be allowed before a call may run. `outside`: its real path is not inside the workspace. */
export type ApprovalNeed =
  | { need: 'none' }
  | { need: 'read'; outside: boolean }
  /** `guarded`: it is inside, but git or Longhaul obeys what is written there, so `outside` is set as well. */
  | { need: 'edit'; outside: boolean; guarded?: true }
  /** `safe`: it only reads, in the workspace or outside of it; `person`: rules that it cannot be held to leave it to a person. */
  | { need: 'command'; safe?: 'inside' | 'outside'; person?: true };

/** What a control tool asks the workflow to do. Long texts are references. */
export type ControlRequest =
  | { do: 'ask'; question: TextRef; options: string[] }
  | { do: 'complete'; result: TextRef; command?: true }
  | { do: 'plan_respond'; response: TextRef; options: string[]; explore: boolean }
  | { do: 'act_respond'; response: TextRef };

/**
 * A complete call as the workflow sees it: what it decides on, and nothing it does not. The arguments stay in the
 * journal. Serialized it stays under about 600 bytes.
 */
export interface PreparedCall {
  call: CallKey;
  block: number;
  tool: string;
  effect: EffectClass;
  approval: ApprovalNeed;
  /** One line for people, such as `read_file src/a.ts`; at most 120 characters. */
  summary: string;
  /** Hash of tool and arguments without `task_progress`, for loop detection; absent for a call with a problem. */
  sig?: string;
  /** The todo list that came with it. */
  todo?: Todo;
  /** The call is answered with an error and never runs. */
  problem?: CallProblem['kind'];
  control?: ControlRequest;
  /** Why a person is asked although safe commands are not asked about; at most 160 characters. */
  why?: string;
  /** What a person is shown before approving: a unified diff, or the whole command; by value when it is short. */
  preview?: TextRef;
  /** SHA-256 of the file that `preview` was computed from; absent for a file that does not exist. */
  base?: string;
}

/** How a call ended. Every call of an answer gets exactly one. */
export type CallStatus = 'done' | 'error' | 'denied' | 'skipped' | 'interrupted' | 'unknown';

/** How a call went, as far as the workflow wants to know; the result itself is in the journal. */
export interface ToolRun {
  status: CallStatus;
  /** Counts towards the mistake limit. */
  mistake: boolean;
}

/** A call that has its result already: the activity that streamed the answer has run it. */
export interface RanCall {
  block: number;
  ran: ToolRun;
  sig?: string;
  todo?: Todo;
}

/** A call of an answer, in the workflow's hands. */
export type AnswerCall = PreparedCall | RanCall;

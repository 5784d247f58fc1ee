import type { AttachRequest } from '../attachments/read.js';
import type { AnswerSource, Ask, AskPolicies } from '../domain/asks.js';
import type { TaskLimits } from '../domain/budget.js';
import type { Mode } from '../domain/modes.js';
import type { Outcome, TaskStatus, Totals } from '../domain/outcomes.js';
import type { ApprovalPolicy, CommandRules } from '../domain/policy.js';
import type { FocusChainSettings, TaskSettings } from '../domain/settings.js';
import type { Usage } from '../domain/usage.js';

export type { AttachRequest };

/**
 * What a task is started with. What is left out is for `$LONGHAUL_HOME/settings.json` and the workspace's own
 * `.longhaul/settings.json` to say, then for the defaults: see docs/settings.md.
 */
export interface StartRequest extends AttachRequest {
  prompt: string;
  /** Folder on this machine; its real path is taken. */
  workspace: string;
  /** Default `claude-sonnet-5`. */
  model?: string;
  /** Name of a provider profile. Default: `LONGHAUL_PROFILE`, else the `ANTHROPIC_*` settings, else `default`. */
  profile?: string;
  policy?: Partial<ApprovalPolicy>;
  limits?: TaskLimits;
  maxConsecutiveMistakes?: number;
  /** Model of plan mode. Default: the same. */
  planModel?: string;
  /** The mode it starts in. Default `act`. */
  mode?: Mode;
  /** In plan mode nothing is edited. Default true. */
  strictPlanMode?: boolean;
  /** How tools are called. Default `auto`: by what the model can. */
  toolProtocol?: TaskSettings['toolProtocol'];
  /** The todo list. */
  focusChain?: Partial<FocusChainSettings>;
  /** What becomes of asks that nobody answers. Default: they wait. */
  asks?: AskPolicies;
  /** Rules about commands, besides those of the settings files: docs/command-approval.md. */
  commands?: CommandRules;
  /** False: the settings files play no part. Default true. */
  settingsFiles?: boolean;
}

export interface StartedTask {
  task: string;
  /** Real path. */
  workspace: string;
  model: string;
  /** Page of the task in Temporal's UI, when there is one. */
  ui?: string;
  /** What the workspace's settings file has made stricter than was asked for, each in a few words; absent: nothing. */
  tightened?: string[];
}

/** `delivered`: the workflow took it; `left`: no worker answered, so it waits as a signal and is judged later. */
export interface AnswerReceipt {
  ask: string | undefined;
  state: 'delivered' | 'left';
}

/** `queued` for the next request of a running task, or a follow-up run of a closed one was started. */
export interface SendReceipt {
  state: 'queued' | 'follow_up';
}

/** A closed task that was taken up again. */
export interface ResumedTask extends StartedTask {
  /** `seq` of the first event of this run. */
  from: number;
}

/** What an abort by force has found and done. */
export interface ForcedAbort {
  /** `gone`: there was none, or it had ended. */
  workflow: 'terminated' | 'gone';
  /** Commands of the task that ran on this machine; they have been ended. */
  commands: number;
  /** Processes that could not be ended. */
  left: number;
  /** Of the task, now that it has ended. */
  status: TaskStatus;
}

export interface ClientOptions {
  /** Default: `LONGHAUL_HOME`, else `~/.longhaul`. */
  home?: string;
  env?: NodeJS.ProcessEnv;
  /** Who answers, for the task log; at most 100 characters. Default: the name of the operating system's user. */
  who?: string;
  /** Where answers come from, for the task log. Default `library`. */
  from?: AnswerSource;
  /** Gets a line for people before something slow, such as the start of the service. */
  log?: (line: string) => void;
  /** Gets what has been fetched of the Temporal server, in bytes; `total` where it is known. */
  progress?: (bytes: number, total: number | undefined) => void;
}

/** A task as lists show it. */
export interface TaskSummary {
  task: string;
  /** `no_worker`: it is open, and no worker is alive that could go on with it. */
  status: TaskStatus;
  /** When the status changed last, ms since the epoch. */
  since: number;
  /** ms since the epoch */
  created: number;
  workspace: string;
  model: string;
  /** The prompt's beginning, on one line. */
  title: string;
  turns: number;
  /** USD */
  cost: number;
}

export interface TaskDetails extends TaskSummary {
  /** Open asks, oldest first. */
  asks: Ask[];
  usage: Usage;
  /** Model requests, those that failed included. */
  requests: number;
  /** Number of the last event. */
  seq: number;
  /** How it has ended; absent while it is open. */
  end?: TaskEnd;
}

/** How a task has ended. */
export type TaskEnd = ({ outcome: 'completed'; result: string } | Exclude<Outcome, { outcome: 'completed' }>) & {
  totals: Totals;
};

export interface TaskFilter {
  status?: TaskStatus;
  /** At most so many. */
  limit?: number;
}

export interface FollowOptions {
  /** `seq` of the first event, default 1. */
  from?: number;
  /** Ends the iteration. */
  signal?: AbortSignal;
  /** Also gives pieces of what is still arriving. Default false. */
  partials?: boolean;
}

/** Limits to change; null takes one away. */
export type LimitsChange = { [limit in keyof TaskLimits]?: TaskLimits[limit] | null };

/** The limits now. `stored`: the task has ended, and its next run is held to them as they are. */
export interface LimitsReceipt {
  limits: TaskLimits;
  state: 'applied' | 'stored';
}

/** A message of a task's conversation. */
export interface ConversationMessage {
  /** From 1. */
  number: number;
  id: string;
  role: 'user' | 'assistant';
  /** Its beginning, on one line. */
  excerpt: string;
  /** Tool calls in it. */
  calls: number;
}

import type { AskPolicies } from './asks.js';
import type { TaskLimits } from './budget.js';
import type { Mode } from './modes.js';
import type { Outcome } from './outcomes.js';
import type { ApprovalPolicy } from './policy.js';

/** Settings fixed when a task starts. */
export interface TaskSettings {
  model: string;
  /** Model of plan mode; absent: the same. */
  planModel?: string;
  profile: string;
  policy: ApprovalPolicy;
  limits: TaskLimits;
  /** Consecutive mistakes before the mistake limit (the original's `maxConsecutiveMistakes`: 3). */
  maxConsecutiveMistakes: number;
  /** The mode a task starts in. */
  mode: Mode;
  /** In plan mode no tool that edits is run. */
  strictPlanMode: boolean;
  /** How tools are called: `auto` is by what the model can. */
  toolProtocol: ToolProtocol | 'auto';
  focusChain: FocusChainSettings;
  asks: AskPolicies;
}

/** Where nothing else is said; also for tasks of an earlier version, which have not set all of them. */
export const DEFAULT_TASK_SETTINGS = {
  maxConsecutiveMistakes: 3,
  mode: 'act',
  strictPlanMode: true,
  toolProtocol: 'auto',
  focusChain: { enabled: true, remindEvery: 6 },
  asks: {},
} as const satisfies Partial<TaskSettings>;

/** `native`: the API's own tool calls; `text`: tags in the answer's text, for models that have no others. */
export type ToolProtocol = 'native' | 'text';

export const TOOL_PROTOCOLS = ['auto', 'native', 'text'] as const satisfies readonly TaskSettings['toolProtocol'][];

/** The todo list: whether the model is asked to keep one, and after how many requests without an update it is reminded. */
export interface FocusChainSettings {
  enabled: boolean;
  remindEvery: number;
}

/** What a task that is taken up again is told of its interruption. */
export interface Resumed {
  /** When it had ended, ms since the epoch. */
  endedAt: number;
  /** The outcome it had ended with; `lost` when nothing had written its end. */
  after: Outcome['outcome'] | 'lost';
}

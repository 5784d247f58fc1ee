import type { z } from 'zod';
import type { ApprovalNeed, CallStatus, ControlRequest, EffectClass } from '../domain/calls.js';
import type { ErrorSlug } from '../domain/errors.js';
import type { Partial } from '../domain/events.js';
import type { CallKey, TaskId, TurnKey } from '../domain/ids.js';
import type { ApprovalPolicy } from '../domain/policy.js';
import type { Journal } from '../journal/journal.js';

/** What a tool may use before anything is allowed: it reads, and changes nothing. */
export interface PrepareContext {
  /** Real path of the workspace. */
  workspace: string;
  journal: Journal;
  signal: AbortSignal;
  /** What runs unasked, and rules about commands; absent: neither is known, and no rules are. */
  policy?: ApprovalPolicy;
}

/** What is known of a call before it runs. */
export interface Prepared {
  approval: ApprovalNeed;
  /** One line for people, at most 120 characters. */
  summary: string;
  /** Why a person is asked although safe commands are not asked about. */
  why?: string;
  /** Shown to a person before approving: unified diff, or command text. */
  preview?: string;
  /** SHA-256 (hex) of the file the preview was made from; absent for a new file. */
  base?: string;
  control?: ControlRequest;
}

export interface RunContext extends PrepareContext {
  task: TaskId;
  /** Temporal's id of the workflow run; absent outside of one. */
  run?: string;
  turn: TurnKey;
  call: CallKey;
  /** Which execution of this call this is, from 1; more than 1 after a crash. Pass it to every journal write. */
  execution: number;
  policy: ApprovalPolicy;
  /**
   * The call was shown to a person and approved; `base` is what they saw it against, `outside` where its path led then
   * (absent: not known).
   */
  approved: { base?: string; outside?: boolean } | undefined;
  /** Where the command runner keeps its state: `$LONGHAUL_HOME/commands`. */
  commandsDir: string;
  /** Aborted with a reason when the execution has to stop; see `stopKind`. */
  signal: AbortSignal;
  /**
   * Why `signal` fired: `cancel` means that the task was cancelled: end processes, undo. `detach` means that this
   * execution is no longer wanted here (worker shutdown, a newer execution): leave everything running and return.
   */
  stopKind(): 'cancel' | 'detach';
  /** Names of variables with secrets of the provider profile, which no command gets, besides those always removed. */
  secretVariables?: readonly string[];
  /** Shows output while it arrives. */
  partial(piece: Pick<Partial, 'kind' | 'offset' | 'text'>): void;
}

export interface ToolOutcome {
  status: Extract<CallStatus, 'done' | 'error' | 'interrupted' | 'unknown'>;
  /** What the model gets. Blank text is replaced by "(no output)". */
  text: string;
  /** One line for people. */
  excerpt?: string;
  /** What an edit has changed; `diff` is for people, and may be cut. */
  change?: { added: number; removed: number; diff: string };
  /** Counts as a mistake of the model: a missing parameter, a file that is not there, a diff that does not fit. */
  mistake?: boolean;
  /** People should read this page about it: said as an `error` event beside the result. */
  slug?: ErrorSlug;
}

/**
 * A tool: one file each, listed in registry.ts. `Args` is what `schema` parses; every tool also accepts the optional
 * `task_progress`, which the registry adds to what the model is offered and strips again.
 */
export interface Tool<Schema extends z.ZodObject = z.ZodObject> {
  name: string;
  /** Offered to the model. */
  description: string;
  schema: Schema;
  /** Other names that models use for a parameter: `{ given: ours }`. */
  aliases?: Readonly<Record<string, string>>;
  effect: EffectClass;
  /** Only reads and ends within seconds: the activity that streams the answer runs it, without one of its own. */
  early?: true;
  /** Resolves paths to real paths, decides what approval is needed, makes the preview. @throws ToolError for calls that can never run */
  prepare(args: z.infer<Schema>, ctx: PrepareContext): Promise<Prepared>;
  /** Not called for control tools, except attempt_completion's command. */
  run(args: z.infer<Schema>, ctx: RunContext): Promise<ToolOutcome>;
}

/** A call that cannot run or has failed in a way the model should know; becomes an error result with this text. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  constructor(
    message: string,
    readonly mistake = true,
  ) {
    super(message);
  }
}

/** A rule, or `.clineignore`, forbids the command; nobody is asked. */
export class CommandDenied extends ToolError {}

import type { Partial, StoredEvent } from '../domain/events.js';
import type { RunOutcome, Totals } from '../domain/outcomes.js';

/** What is known of a task before its log is read. */
export interface TaskHead {
  task: string;
  workspace: string;
  model: string;
  /** Its page in Temporal's UI. */
  ui?: string;
  /** What the workspace's settings have made stricter. */
  tightened?: string[];
}

/** How a command that followed a task ends. */
export interface RunEnd {
  task: string;
  outcome: RunOutcome;
  totals: Totals;
  /** Text of a completed task's result. */
  result?: string;
  /** How to answer, with `needs_human`. */
  answer?: HowToAnswer;
  /** Cancellation has been asked for, but no worker has confirmed it yet. */
  unconfirmed?: true;
}

export interface HowToAnswer {
  /** A shell command. */
  command: string;
  /** Argument of the update or signal `answer`. */
  json: string;
}

/** Shows a task as it goes: for people or as JSON lines. */
export interface View {
  head(head: TaskHead): void;
  event(stored: StoredEvent): Promise<void>;
  partial(partial: Partial): Promise<void>;
  /** Something this command noticed that is not in the task log, such as that no worker is alive. */
  notice(status: 'no_worker' | 'worker_back', text: string): void;
  /** The command leaves; the task goes on. */
  detached(task: string): void;
  end(end: RunEnd): void;
}

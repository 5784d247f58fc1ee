import type { Ask } from '../domain/asks.js';
import type { TextRef } from '../domain/blocks.js';
import type { Partial, StoredEvent } from '../domain/events.js';
import type { Journal } from '../journal/journal.js';
import { openAsks } from './open-asks.js';
import { followTask, listTasks, taskDetails, taskEnd } from './read.js';
import { resolveTask } from './resolve.js';
import { listMessages } from './rewind.js';
import type { ConversationMessage, FollowOptions, TaskDetails, TaskEnd, TaskFilter, TaskSummary } from './types.js';

/** What can be known of tasks from the journal alone: no service and no server are needed. */
export class TaskReader {
  protected constructor(
    /** @internal */
    readonly journal: Journal,
  ) {}

  /** Tasks, newest first. */
  list(filter: TaskFilter = {}): Promise<TaskSummary[]> {
    return listTasks(this.journal, filter);
  }

  /** One task with its open asks, its totals and its end. @throws LonghaulError `task-not-found` */
  get(task: string): Promise<TaskDetails> {
    return taskDetails(this.journal, task);
  }

  /** The task whose id begins with `prefix`. @throws LonghaulError `task-not-found`, `task-ambiguous` */
  resolve(prefix: string): Promise<string> {
    return resolveTask(this.journal, prefix);
  }

  /**
   * The task's events: first those that are stored, then each as it comes, until the task has ended, `signal` aborts or
   * the client is closed. With `partials` also what is still arriving; that has no `seq`.
   * @throws LonghaulError `task-not-found`
   * @example
   * for await (const { event } of client.follow(task)) if (event.type === 'ask') console.log(event.ask.question);
   */
  follow(task: string, options?: FollowOptions & { partials?: false }): AsyncGenerator<StoredEvent, void>;
  follow(task: string, options: FollowOptions): AsyncGenerator<StoredEvent | Partial, void>;
  follow(task: string, options: FollowOptions = {}): AsyncGenerator<StoredEvent | Partial, void> {
    return followTask(this.journal, task, options);
  }

  /**
   * How the task has ended; waits until it has, also while it waits for a person.
   * @throws LonghaulError `task-not-found`; the reason of `signal` when that aborts
   */
  result(task: string, options: { signal?: AbortSignal } = {}): Promise<TaskEnd> {
    return taskEnd(this.journal, task, options.signal);
  }

  /** Open asks, oldest first, as the task log has them. */
  openAsks(task: string): Promise<Ask[]> {
    return openAsks(this.journal, task);
  }

  /**
   * The conversation with the model, oldest message first: what `rewind` takes a number of.
   * @throws LonghaulError `task-not-found`, `journal-lost`
   */
  messages(task: string): Promise<ConversationMessage[]> {
    return listMessages(this.journal, task);
  }

  /** A text that an event refers to, such as the detail of an ask. */
  text(ref: TextRef): Promise<string> {
    return this.journal.getText(ref);
  }
}

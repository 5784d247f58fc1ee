import type { TaskLimits } from '../domain/budget.js';
import type { AskEvent, ClosedEvent, SayEvent, StoredEvent } from '../domain/events.js';
import type { Mode } from '../domain/modes.js';
import { isOpen } from '../domain/outcomes.js';
import type { Journal } from './journal.js';

const PAGE = 500;

export type TodoEvent = Extract<SayEvent, { say: 'task_progress' }>;

/** What a task's log says so far: which asks are open, whether its last run has ended, and what has been changed since its start. */
export class LogState {
  readonly open = new Map<string, AskEvent>();
  /** How often each ask's people have been reminded. */
  readonly reminders = new Map<string, number>();
  closed: ClosedEvent | undefined;
  /** The todo list as it was given last. */
  todo: TodoEvent | undefined;
  seq = 0;
  /** As far as they have been changed since the task was started. */
  mode: Mode | undefined;
  limits: TaskLimits | undefined;
  /** Since when a person keeps the task from going on; ms since the epoch. */
  pausedAt: number | undefined;
  /** When the last run began; ms since the epoch. */
  private startedAt: number | undefined;
  private endedAt: number | undefined;
  private pausedMs = 0;

  /** How long the last run has gone on, pauses left out; ms. */
  elapsedMs(now: number): number {
    const until = this.endedAt ?? this.pausedAt ?? now;
    return Math.max(0, until - (this.startedAt ?? until) - this.pausedMs);
  }

  apply({ seq, at, event }: StoredEvent): void {
    this.seq = seq;
    this.startedAt ??= at;
    switch (event.type) {
      case 'ask':
        this.open.set(event.ask.id, event);
        return;
      case 'ask_closed':
        this.open.delete(event.ask);
        return;
      case 'closed':
        this.closed = event;
        this.open.clear();
        this.unpause(at);
        this.endedAt = at;
        return;
      case 'status':
        if (isOpen(event.status)) {
          this.closed = undefined;
          this.endedAt = undefined;
        }
        if (event.status === 'starting') {
          this.startedAt = at;
          this.pausedMs = 0;
        }
        return;
      case 'ask_reminder':
        this.reminders.set(event.ask, event.count);
        return;
      case 'pause':
        if (event.paused) this.pausedAt ??= at;
        else this.unpause(at);
        return;
      case 'mode':
        this.mode = event.mode;
        return;
      case 'limits':
        this.limits = event.limits;
        return;
      case 'say':
        if (event.say === 'task_progress') this.todo = event;
        return;
      case 'retract':
      case 'rewound':
        return;
    }
  }

  private unpause(at: number): void {
    if (this.pausedAt !== undefined) this.pausedMs += at - this.pausedAt;
    this.pausedAt = undefined;
  }
}

/** The stored log from `after` on, page by page. */
export async function* storedEvents(journal: Journal, task: string, after = 0): AsyncGenerator<StoredEvent> {
  for (let seq = after; ; ) {
    const page = await journal.readEvents(task, seq, PAGE);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    seq = last.seq;
  }
}

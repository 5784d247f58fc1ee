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
  /** Absent: as the task was started. */
  mode: Mode | undefined;
  limits: TaskLimits | undefined;
  seq = 0;

  apply({ seq, event }: StoredEvent): void {
    this.seq = seq;
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
        return;
      case 'status':
        if (isOpen(event.status)) this.closed = undefined;
        return;
      case 'ask_reminder':
        this.reminders.set(event.ask, event.count);
        return;
      case 'say':
        if (event.say === 'task_progress') this.todo = event;
        return;
      case 'mode':
        this.mode = event.mode;
        return;
      case 'limits':
        this.limits = event.limits;
        return;
      case 'retract':
      case 'rewound':
        return;
    }
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

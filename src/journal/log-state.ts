import type { AskEvent, ClosedEvent, StoredEvent } from '../domain/events.js';
import { isOpen } from '../domain/outcomes.js';
import type { Journal } from './journal.js';

const PAGE = 500;

/** What a task's log says so far: which asks are open, and whether its last run has ended. */
export class LogState {
  readonly open = new Map<string, AskEvent>();
  /** How often each ask's people have been reminded. */
  readonly reminders = new Map<string, number>();
  closed: ClosedEvent | undefined;
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
      case 'retract':
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

import type { Ask } from '../domain/asks.js';
import type { Journal } from '../journal/journal.js';

/** Open asks of a task, oldest first, as its log has them. */
export async function openAsks(journal: Journal, task: string): Promise<Ask[]> {
  const open = new Map<string, Ask>();
  for (let after = 0; ; ) {
    const events = await journal.readEvents(task, after, 1_000);
    for (const { event } of events) {
      if (event.type === 'ask') open.set(event.ask.id, event.ask);
      if (event.type === 'ask_closed') open.delete(event.ask);
      if (event.type === 'closed') open.clear();
    }
    const last = events.at(-1);
    if (!last) return [...open.values()];
    after = last.seq;
  }
}

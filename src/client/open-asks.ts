import type { Ask } from '../domain/asks.js';
import type { Journal } from '../journal/journal.js';
import { LogState, storedEvents } from '../journal/log-state.js';

/** Open asks of a task, oldest first, as its log has them. */
export async function openAsks(journal: Journal, task: string): Promise<Ask[]> {
  const state = new LogState();
  for await (const stored of storedEvents(journal, task)) state.apply(stored);
  return [...state.open.values()].map(({ ask }) => ask);
}

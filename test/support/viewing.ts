import { expect } from 'vitest';
import type { Journal } from '../../src/journal/journal.js';
import { Transcript } from '../../src/journal/rebuild.js';

/**
 * Follows a task's public log until it has closed, as any viewer does.
 * @returns what was shown and not taken back, by stream
 */
export async function view(journal: Journal, task: string, after = 0): Promise<Map<string, string>> {
  const stop = new AbortController();
  const transcript = new Transcript(after);
  const texts = new Map<string, string>();
  for await (const item of journal.tail(task, after, stop.signal)) {
    for (const shown of transcript.apply(item)) {
      if ('append' in shown) texts.set(shown.stream, (texts.get(shown.stream) ?? '') + shown.append);
      else if ('retracted' in shown) for (const { stream } of shown.retracted) texts.delete(stream);
      else if (shown.stream !== undefined && shown.rest !== undefined) {
        const before = texts.get(shown.stream) ?? '';
        expect(before).toHaveLength(shown.shown ?? 0);
        texts.set(shown.stream, before + shown.rest);
      }
    }
    if ('event' in item && item.event.event.type === 'closed') break;
  }
  stop.abort();
  return texts;
}

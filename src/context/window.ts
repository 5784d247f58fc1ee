import type { Conversation, Message } from '../domain/blocks.js';
import { CHARS_PER_TOKEN, sizeOf } from '../domain/size.js';

/** Stands where turns were left out. */
export const LEFT_OUT =
  '[Earlier turns were left out here to make room. Files and finished commands are as those turns left them; read again what you need.]';

/**
 * The conversation as far as it fits into `budget` tokens: the first message, which holds the task, and the newest turns.
 * Whole turns are left out, an answer with its results, and half of the budget's worth at a time: so the cut stays where
 * it is for many turns, and the provider's cache goes on finding its prefix. Depends on the whole conversation's length
 * and on what of it can fit, so the rest need not have been read.
 */
export function fitWindow({ messages, skipped }: Conversation, budget: number): Message[] {
  const [first, ...rest] = messages;
  if (!first) return [];
  // The newest ones that were read may begin in the middle of a turn.
  let at = rest[0]?.role === 'user' ? 1 : 0;
  const sizes = rest.map(sizeOf);
  const limit = budget * CHARS_PER_TOKEN - sizeOf(first);
  const total = sizes.reduce((sum, size) => sum + size, skipped);
  if (total <= limit) return [...messages];
  const step = Math.max(1, limit / 2);
  const cut = Math.ceil((total - limit) / step) * step;
  let start = skipped + (at === 1 ? sizes[0]! : 0);
  // Answers stand at even places; the newest turn always stays.
  while (start < cut && at + 2 < rest.length) start += sizes[at++]! + sizes[at++]!;
  if (skipped === 0 && at === 0) return [...messages];
  const note = { type: 'text', text: LEFT_OUT } as const;
  return [{ ...first, content: [...first.content, note] }, ...rest.slice(at)];
}

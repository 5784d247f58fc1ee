import type { Message } from '../domain/blocks.js';

/** Characters a token has at least in nearly all text: an estimate on the safe side. */
export const CHARS_PER_TOKEN = 3.5;

/** Stands where turns were left out. */
export const LEFT_OUT =
  '[Earlier turns were left out here to make room. Files and finished commands are as those turns left them; read again what you need.]';

/**
 * The conversation as far as it fits into `budget` tokens: the first message, which holds the task, and the newest turns.
 * Whole turns are left out, an answer with its results, and half of the budget's worth at a time: so the cut stays where
 * it is for many turns, and the provider's cache goes on finding its prefix. Depends on the conversation alone.
 */
export function fitWindow(conversation: readonly Message[], budget: number): Message[] {
  const [first, ...rest] = conversation;
  if (!first) return [];
  const limit = budget * CHARS_PER_TOKEN - sizeOf(first);
  const lengths = rest.map(sizeOf);
  let from = 0;
  let total = 0;
  for (const [at, size] of lengths.entries()) {
    total += size;
    if (total <= limit) continue;
    // Answers stand at even places; the newest turn always stays.
    while (total > limit / 2 && from + 2 <= at) total -= lengths[from++]! + lengths[from++]!;
  }
  if (from === 0) return [...conversation];
  const note = { type: 'text', text: LEFT_OUT } as const;
  return [{ ...first, content: [...first.content, note] }, ...rest.slice(from)];
}

/** Messages never change, and a conversation is sent again and again. */
const sizes = new WeakMap<Message, number>();

/** Characters of a message as JSON. */
export function sizeOf(message: Message): number {
  const size = sizes.get(message) ?? JSON.stringify(message).length;
  sizes.set(message, size);
  return size;
}

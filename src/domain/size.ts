import type { Message } from './blocks.js';

/** Characters a token has at least in nearly all text: an estimate on the safe side. */
export const CHARS_PER_TOKEN = 3.5;

/** Tokens of the largest image that a model sees: larger ones are scaled down to that (see src/attachments/limits.ts). */
const IMAGE_TOKENS = 1600;
const IMAGE_CHARS = IMAGE_TOKENS * CHARS_PER_TOKEN;

/** Messages never change, and a conversation is sent again and again. */
const known = new WeakMap<Message, number>();

/** Characters of a message: those of its JSON, and for each image what stands for its tokens. */
export function sizeOf(message: Message): number {
  const size = known.get(message) ?? JSON.stringify(message).length + imagesIn(message) * IMAGE_CHARS;
  known.set(message, size);
  return size;
}

function imagesIn({ content }: Message): number {
  let count = 0;
  for (const block of content) {
    if (block.type === 'image') count++;
    if (block.type === 'tool_result') count += block.content.filter(({ type }) => type === 'image').length;
  }
  return count;
}

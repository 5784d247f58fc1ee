import type { Answer } from '../domain/asks.js';
import type { AttachmentsRef } from '../domain/attachments.js';
import { INLINE_TEXT_BYTES, type TextRef } from '../domain/blocks.js';
import { control } from './activities.js';
import type { Task } from './state.js';

/** What a person said with an answer, by reference unless it is short; undefined when they said nothing. */
export async function said(
  task: Task,
  { text, textRef, attachments }: Answer,
): Promise<{ text: TextRef; attachments?: AttachmentsRef } | undefined> {
  if (text === undefined && textRef === undefined && attachments === undefined) return undefined;
  const words = textRef ?? (await shortened(task, { text: text ?? '' }));
  return { text: words, ...(attachments === undefined ? {} : { attachments }) };
}

/** Moves a longer text into the journal. */
async function shortened(task: Task, text: TextRef): Promise<TextRef> {
  return isLong(text) ? control.storeText({ ...task.ref, text: text.text }) : text;
}

/** By value, and too long to be handed on so. A UTF-16 unit is at most three bytes of UTF-8. */
function isLong(text: TextRef): text is { text: string } {
  return 'text' in text && text.text.length * 3 > INLINE_TEXT_BYTES;
}

export function hasLongMessage(task: Task): boolean {
  return task.carried.messages.some(({ text }) => isLong(text));
}

/** Waiting texts travel by reference. */
export async function stowMessages(task: Task): Promise<void> {
  for (const message of [...task.carried.messages]) message.text = await shortened(task, message.text);
}

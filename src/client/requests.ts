import { randomBytes } from 'node:crypto';
import { LonghaulError } from '../domain/errors.js';
import { MAX_TEXT_BYTES } from '../domain/limits.js';

/** Letters and digits that are hard to confuse. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Random, so that a few characters of it name a task. */
export function newTaskId(): string {
  return [...randomBytes(12)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

/** @throws LonghaulError `prompt-empty`, `prompt-too-large` */
export function checkText(text: string): void {
  if (text.trim() === '') {
    throw new LonghaulError('prompt-empty', 'The text is empty.', { next: 'Say what is to be done.' });
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_TEXT_BYTES) return;
  throw new LonghaulError('prompt-too-large', `The text has ${bytes} bytes; ${MAX_TEXT_BYTES} are the limit.`, {
    kept: 'Nothing was started or sent.',
    next: 'Put the material into a file in the workspace and name the file.',
  });
}

import { randomBytes } from 'node:crypto';
import { userInfo } from 'node:os';
import { LonghaulError } from '../domain/errors.js';
import { withoutUndefined } from '../domain/given.js';
import { MAX_TEXT_BYTES } from '../domain/limits.js';
import type { PartialSettings } from '../settings/schema.js';
import type { StartRequest } from './types.js';

/** Letters and digits that are hard to confuse. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';

/** Random, so that a few characters of it name a task. */
export function newTaskId(): string {
  return [...randomBytes(12)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

/** The settings among what a task is started with. */
export function settingsOf(request: StartRequest): PartialSettings {
  const { policy: { yolo, approve } = {}, commands, limits, asks, focusChain } = request;
  const { model, planModel, mode, maxConsecutiveMistakes, strictPlanMode, toolProtocol } = request;
  const all = { model, planModel, mode, yolo, approve, limits, maxConsecutiveMistakes, strictPlanMode, toolProtocol };
  return withoutUndefined({ ...all, focusChain, asks, commands });
}

/** Of whoever runs this process. */
export function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // a user id without a name
    return undefined;
  }
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

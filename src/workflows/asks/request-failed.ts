import type { AttachmentsRef } from '../../domain/attachments.js';
import type { TextRef } from '../../domain/blocks.js';
import { said } from '../answers.js';
import { askPerson } from '../ask.js';
import type { Task } from '../state.js';

/** How a person wants to go on, or that nobody said anything until the wait was over. */
export type GoOn =
  | { how: 'again' | 'by_default' | 'give_up' }
  | { how: 'with_message'; words: { text: TextRef; attachments?: AttachmentsRef } };

/**
 * `api_req_failed`: the provider gave no usable answer.
 * @param more `parkMs`: the task goes on by itself after this; without it only a person can say how. `detail`: all there
 * is to say, where the question is not
 */
export async function askHowToGoOn(
  task: Task,
  question: string,
  { parkMs, detail }: { parkMs?: number; detail?: string } = {},
): Promise<GoOn> {
  const parked = parkMs === undefined ? {} : { parkedUntil: Date.now() + parkMs };
  const all = detail === undefined ? {} : { detail: { text: detail } };
  const answer = await askPerson(task, { kind: 'api_req_failed', question, ...all, ...parked });
  if (answer.profile !== undefined) task.carried.profile = answer.profile;
  const words = await said(task, answer);
  if (words) return { how: 'with_message', words };
  if (answer.answer === 'no') return { how: 'give_up' };
  return { how: answer.by === 'default' ? 'by_default' : 'again' };
}

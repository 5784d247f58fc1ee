import { setHandler } from '@temporalio/workflow';
import { MAX_INLINE_ANSWER } from '../../domain/asks.js';
import { readBlobRef } from '../../domain/blocks.js';
import type { SendReply } from '../../domain/replies.js';
import { utf8Bytes } from '../../domain/text.js';
import type { UserMessage } from '../../domain/turn.js';
import { sendUpdate } from '../definitions.js';
import type { Task } from '../state.js';
import { refused, refuseLate, refuseWhileClosing } from './refuse.js';

/** Messages that may wait for the next request. */
const MAX_QUEUED = 30;
/** Bytes that waiting messages may hold by value in all; clients send longer ones by reference. */
const MAX_QUEUED_TEXT = 2 * MAX_INLINE_ANSWER;

/** Messages of people, at any time. */
export function handleMessages(task: Task): void {
  setHandler(sendUpdate, (raw) => takeMessage(task, raw), {
    validator: (raw) => void readMessage(task, raw),
    description: 'Leaves a message for the model: {"text":"use tabs"} or a bare text',
  });
}

function takeMessage(task: Task, raw: unknown): SendReply {
  const { message, clientId } = readMessage(task, raw);
  const { messages } = task.carried;
  if (task.hasSeen(clientId)) return { queued: messages.length, duplicate: true };
  messages.push(message);
  task.remember(clientId);
  return { queued: messages.length, duplicate: false };
}

/** @throws ApplicationFailure that refuses the message */
function readMessage(task: Task, raw: unknown): { message: UserMessage; clientId?: string } {
  const given = typeof raw === 'string' ? { text: raw } : ((raw ?? {}) as Record<string, unknown>);
  const { text, textRef, attachments, images, files, clientId } = given as Record<string, unknown>;
  const id = typeof clientId === 'string' ? { clientId: clientId.slice(0, 100) } : {};
  if (task.hasSeen(id.clientId)) return { message: { as: 'user_message', text: { text: '' } }, ...id };
  refuseLate(given);
  refuseWhileClosing(task);
  const { messages } = task.carried;
  if (messages.length >= MAX_QUEUED) {
    throw refused(
      'TaskBusy',
      `${messages.length} messages wait already; send it again when the next request has gone out.`,
    );
  }
  const attached = readBlobRef(attachments);
  if (images !== undefined || files !== undefined || (attachments !== undefined && !attached)) {
    throw refused('BadMessage', 'Images and files are sent with `longhaul send --image FILE --file FILE`.');
  }
  const more = attached ? { attachments: attached } : {};
  const ref = readBlobRef(textRef);
  if (ref) return { message: { as: 'user_message', text: ref, ...more }, ...id };
  const words = text === undefined && attached ? '' : text;
  if (typeof words !== 'string' || (words.trim() === '' && !attached)) {
    throw refused('BadMessage', 'A message is {"text":"…"} or a bare text, and not blank.');
  }
  const waiting = messages.reduce((sum, one) => sum + ('text' in one.text ? utf8Bytes(one.text.text) : 0), 0);
  const bytes = utf8Bytes(words);
  if (bytes > MAX_INLINE_ANSWER || waiting + bytes > MAX_QUEUED_TEXT) {
    throw refused('BadMessage', 'The text is too long to be sent this way; use `longhaul send`.');
  }
  return { message: { as: 'user_message', text: { text: words }, ...more }, ...id };
}

import type { Head } from '../domain/ids.js';
import type { RewindPlace } from '../domain/rewind.js';
import type { Journal } from './journal.js';

/**
 * Where a rewind leads: the message becomes the last one. What a conversation continues with is a message of the user,
 * so the blocks of that message, or the results that follow an answer, are carried over into the next one.
 * @param message its number, from 1, or its id
 */
export async function placeOfMessage(
  journal: Pick<Journal, 'listMessages'>,
  head: Head,
  message: string,
): Promise<RewindPlace | { problem: string }> {
  const messages = await journal.listMessages(head);
  const at = /^\d{1,9}$/.test(message) ? Number(message) - 1 : messages.findIndex(({ id }) => id === message);
  const found = messages[at];
  if (!found) {
    const problem = `The conversation has ${messages.length} messages, and none is "${message}".`;
    return { problem };
  }
  const place = { kept: at + 1, dropped: messages.length - at - 1 };
  if (found.role === 'user') {
    return { ...place, head: found.parent, carryOver: { message: found.id, blocks: 'all' } };
  }
  const after = messages[at + 1];
  return { ...place, head: found.id, ...(after && { carryOver: { message: after.id, blocks: 'results' } }) };
}

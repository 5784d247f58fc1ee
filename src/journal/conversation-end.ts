import type { ConversationEnd, ListedMessage, RewindPlace } from '../domain/rewind.js';
import { oneLine } from '../domain/text.js';
import { EXCERPT, listed } from './conversations.js';
import type { Journal } from './journal.js';

type Reads = Pick<Journal, 'listMessages' | 'getMessage' | 'getTurn'>;

/**
 * The messages of a conversation, oldest first, with those that join it only with the next request.
 * @throws LonghaulError `journal-lost`
 */
export async function listConversation(journal: Reads, end: ConversationEnd): Promise<ListedMessage[]> {
  const messages = await journal.listMessages(end.head);
  const { carryOver, turn } = end;
  if (carryOver?.blocks === 'all') {
    const message = await journal.getMessage(carryOver.message);
    messages.push(listed(carryOver.message, end.head, message));
  }
  const answer = turn === undefined ? undefined : await journal.getTurn(turn);
  if (turn !== undefined && answer) {
    const excerpt = answer.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ');
    const calls = answer.blocks.filter(({ type }) => type === 'tool_use').length;
    messages.push({
      id: pendingId(turn),
      parent: end.head,
      role: 'assistant',
      excerpt: oneLine(excerpt, EXCERPT),
      calls,
    });
  }
  return messages;
}

/**
 * Where a rewind leads: the message becomes the last one. What a conversation continues with is a message of the user,
 * so the blocks of that message, or the results that follow an answer, are carried over into the next one.
 * @param message its number, from 1, or its id
 */
export async function placeOfMessage(
  journal: Reads,
  end: ConversationEnd,
  message: string,
): Promise<RewindPlace | { problem: string }> {
  const messages = await listConversation(journal, end);
  const at = /^\d{1,9}$/.test(message) ? Number(message) - 1 : messages.findIndex(({ id }) => id === message);
  const found = messages[at];
  if (!found) {
    const many = messages.length === 1 ? '1 message' : `${messages.length} messages`;
    return { problem: `The conversation has ${many}, and none is "${message}".` };
  }
  const place = { kept: at + 1, dropped: messages.length - at - 1 };
  // nothing comes after it, so all stays as it stands
  if (place.dropped === 0 && (end.carryOver || end.turn !== undefined)) return { ...place, ...end };
  if (found.role === 'user') {
    return { ...place, head: found.parent, carryOver: { message: found.id, blocks: 'all' } };
  }
  const after = messages[at + 1];
  return { ...place, head: found.id, ...(after && { carryOver: { message: after.id, blocks: 'results' } }) };
}

/** An answer that has not joined the conversation has no id of its own yet. */
function pendingId(turn: string): string {
  return turn.replaceAll('-', '');
}

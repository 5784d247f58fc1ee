import { isOpen } from '../domain/outcomes.js';
import type { RewindReply } from '../domain/replies.js';
import type { ConversationEnd, RewindPlace } from '../domain/rewind.js';
import { conversationEnd, rewoundState } from '../domain/rewound-state.js';
import { listConversation, placeOfMessage } from '../journal/conversation-end.js';
import type { Journal } from '../journal/journal.js';
import type { TaskRow } from '../journal/rows.js';
import { endedMeanwhile, endedRow, storeClosed } from './change.js';
import { noSuchMessage } from './errors.js';
import type { Link } from './link.js';
import { standOf } from './rebuild-state.js';
import { checkText } from './requests.js';
import { notFound } from './resolve.js';
import type { ConversationMessage } from './types.js';

/** How long a task may take to break off what it is doing: a command gets 2 s to end by itself, ms. */
const REWIND_MS = 60_000;

/** The conversation of a task, oldest message first. @throws LonghaulError `task-not-found`, `journal-lost` */
export async function listMessages(journal: Journal, task: string): Promise<ConversationMessage[]> {
  const row = await journal.getTask(task);
  if (!row) throw notFound(task);
  const messages = await listConversation(journal, await endOf(journal, row));
  return messages.map(({ id, role, excerpt, calls }, at) => ({ number: at + 1, id, role, excerpt, calls }));
}

/**
 * Takes the conversation back to a message. An open task breaks off what it is doing and goes on from there; of a closed
 * one the state changes, and it stays closed.
 * @throws LonghaulError `message-not-found`, `task-state`, `task-busy`, `task-not-found`, `service-busy`
 */
export async function rewindTask(
  link: Link,
  task: string,
  message: string,
  text: string | undefined,
): Promise<RewindReply> {
  if (text !== undefined) checkText(text);
  const { journal } = link;
  const words = text === undefined ? undefined : await journal.putBlob(text);
  const ended = await endedRow(link, task);
  if (ended) return rewindClosed(link, ended, message, words);
  await placeIn(journal, task, message);
  try {
    const { kept, dropped } = await link.update<RewindReply>(
      task,
      'rewind',
      { message, ...(words && { textRef: words }) },
      REWIND_MS,
    );
    return { kept, dropped };
  } catch (err) {
    const row = await endedMeanwhile(link, task, err);
    if (row) return rewindClosed(link, row, message, words);
    throw await link.meaning(task, err);
  }
}

async function rewindClosed(
  link: Link,
  row: TaskRow,
  message: string,
  text: Parameters<typeof rewoundState>[2],
): Promise<RewindReply> {
  const { state } = await standOf(link.journal, row);
  const place = found(row.task, await placeOfMessage(link.journal, conversationEnd(state), message));
  rewoundState(state, place, text);
  await storeClosed(link, row, state, [{ type: 'rewound', ...place, ...(text && { said: text }) }]);
  const { kept, dropped } = place;
  return { kept, dropped };
}

/** A message that is not there is refused before the task is asked. */
async function placeIn(journal: Journal, task: string, message: string): Promise<void> {
  const row = await journal.getTask(task);
  if (!row) throw notFound(task);
  found(task, await placeOfMessage(journal, await endOf(journal, row), message));
}

function found(task: string, place: RewindPlace | { problem: string }): RewindPlace {
  if (!('problem' in place)) return place;
  throw noSuchMessage(task, place.problem);
}

/** How far the conversation goes that can be taken back: a request that is being made is no part of it yet. */
async function endOf(journal: Journal, row: TaskRow): Promise<ConversationEnd> {
  const { state, unanswered } = await standOf(journal, row);
  const end = conversationEnd(state);
  return unanswered && isOpen(row.status) ? { head: end.head } : end;
}

import type { Conversation, Message, MessageBlock, TextRef, ToolUseBlock } from '../domain/blocks.js';
import { LonghaulError } from '../domain/errors.js';
import { callKey, type Head, toolUseId } from '../domain/ids.js';
import type { CarryOver } from '../domain/rewind.js';
import { cut } from '../domain/text.js';
import type { StreamInput, TurnEnd } from '../domain/turn.js';
import { headAfter } from '../journal/conversations.js';
import type { Journal } from '../journal/journal.js';
import type { NewEvent, TurnOpening, TurnRow } from '../journal/rows.js';
import { modelInfo } from '../model/prices.js';
import { conversationLimit } from '../model/request.js';
import { NO_ANSWER, noteText, noticeText, problemText, userText, verdictText } from '../prompts/notices.js';

/** Characters of a message that the task log shows. */
const MAX_SHOWN = 16_000;

/** What a turn is asked with. `opening` and `events` are for the claim to store: the turn's row does not exist yet. */
export interface Gathered {
  head: Head;
  conversation: Conversation;
  opening?: TurnOpening;
  /** Messages of people that go into the request. */
  events: NewEvent[];
}

/**
 * The conversation a turn is asked with. The first claim adds what the last turn left and what people said, and the
 * turn's row keeps that head; every later execution of the turn takes the head from the row, so nothing is added twice.
 */
export async function gather(input: StreamInput, journal: Journal): Promise<Gathered> {
  const limit = conversationLimit(modelInfo(input.settings.model));
  const row = await journal.getTurn(input.turn);
  if (row) return { head: row.head, conversation: await journal.readConversation(row.head, limit), events: [] };
  const added = await addedMessages(input, journal);
  const { messages, skipped } = await journal.readConversation(input.head, limit);
  return {
    head: headAfter(input.head, added),
    conversation: { messages: [...messages, ...added], skipped },
    opening: { parent: input.head, messages: added },
    events: await messageEvents(input, journal),
  };
}

async function addedMessages(input: StreamInput, journal: Journal): Promise<Message[]> {
  const added: Message[] = [];
  const content: MessageBlock[] = [];
  if (input.carryOver) content.push(...(await carriedOver(input.carryOver, journal)));
  if (input.previous) {
    const turn = await journal.getTurn(input.previous.turn);
    added.push({ role: 'assistant', content: answerOf(turn) });
    content.push(...(await resultsOf(turn, input.previous, journal)));
  }
  for (const notice of input.notices) content.push({ type: 'text', text: noticeText(notice) });
  for (const message of input.messages) {
    content.push({ type: 'text', text: userText(message.as, await wordsOf(message.text, journal)) });
  }
  if (content.length === 0) content.push({ type: 'text', text: noticeText('go_on') });
  return [...added, { role: 'user', content }];
}

/** What is left of a message that a rewind has taken out of the conversation. */
async function carriedOver({ message, blocks }: CarryOver, journal: Journal): Promise<MessageBlock[]> {
  const { content } = await journal.getMessage(message);
  return blocks === 'all' ? content : content.filter((block) => block.type === 'tool_result');
}

/** What a person said. A reference to nothing costs the words, not the task: anybody can send one. */
async function wordsOf(text: TextRef, journal: Journal): Promise<string> {
  try {
    return await journal.getText(text);
  } catch (err) {
    if (LonghaulError.is(err) && err.slug === 'journal-lost') return '(the text of this message is lost)';
    throw err;
  }
}

/** People see when their message has gone into a request. */
async function messageEvents(input: StreamInput, journal: Journal): Promise<NewEvent[]> {
  const events: NewEvent[] = [];
  for (const [at, message] of input.messages.entries()) {
    if (message.as === 'task') continue;
    const text = cut(await wordsOf(message.text, journal), MAX_SHOWN);
    events.push({ key: `${input.turn}:message:${at}`, event: { type: 'say', say: 'user_feedback', text } });
  }
  return events;
}

/**
 * The answer as it is sent back: calls under our own ids, nothing blank, no thinking at the end. Reasoning that nothing
 * followed stays, since what was sent of it may not be left out before what stands for the answer.
 */
function answerOf(turn: TurnRow | undefined): MessageBlock[] {
  const blocks: MessageBlock[] = (turn?.blocks ?? []).map((block) =>
    block.type === 'tool_use'
      ? {
          type: 'tool_use',
          id: toolUseId(callKey(turn!.turn, block.block)),
          name: sendableName(block.name),
          input: block.input,
        }
      : block,
  );
  const end = blocks.findLastIndex((block) => !isThinking(block)) + 1;
  return end > 0 ? blocks.slice(0, end) : [...blocks, { type: 'text', text: NO_ANSWER }];
}

/** Exactly one result for each call of the answer, in its order. */
async function resultsOf(turn: TurnRow | undefined, end: TurnEnd, journal: Journal): Promise<MessageBlock[]> {
  const calls = (turn?.blocks ?? []).filter((block): block is ToolUseBlock => block.type === 'tool_use');
  const results: MessageBlock[] = [];
  for (const call of calls) {
    const { text, isError } = await resultOf(call, callKey(end.turn, call.block), end, journal);
    const shown = text.trim() === '' ? '(no output)' : text;
    results.push({
      type: 'tool_result',
      tool_use_id: toolUseId(callKey(end.turn, call.block)),
      content: [{ type: 'text', text: shown }],
      ...(isError ? { is_error: true } : {}),
    });
  }
  return results;
}

async function resultOf(
  call: ToolUseBlock,
  key: string,
  end: TurnEnd,
  journal: Journal,
): Promise<{ text: string; isError: boolean }> {
  if (call.problem) return { text: problemText(call.problem, call), isError: true };
  const verdict = end.verdicts.find((one) => one.block === call.block);
  const said = verdict?.note ? noteText(verdict.note) : verdict?.text && (await wordsOf(verdict.text, journal));
  const stored = await journal.getResult(key);
  if (stored) {
    const text = await journal.getText(stored.text);
    const feedback = said === undefined ? '' : `\n\nThe person said with it:\n${userText('feedback', said)}`;
    return { text: text + feedback, isError: stored.status !== 'done' };
  }
  const status = verdict?.status ?? end.rest;
  return { text: verdictText(status, said), isError: status !== 'done' };
}

function isThinking(block: MessageBlock): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

/** A name the model made up may hold characters that the API refuses in a request. */
function sendableName(name: string): string {
  const clean = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64);
  return clean === '' ? 'unnamed' : clean;
}

import type {
  Conversation,
  ImageBlock,
  Message,
  MessageBlock,
  ResultBlock,
  TextRef,
  ToolUseBlock,
} from '../domain/blocks.js';
import { LonghaulError } from '../domain/errors.js';
import { callKey, type Head, toolUseId } from '../domain/ids.js';
import type { CarryOver } from '../domain/rewind.js';
import { cut } from '../domain/text.js';
import type { StreamInput, TurnEnd, UserMessage, Verdict } from '../domain/turn.js';
import { headAfter } from '../journal/conversations.js';
import type { Journal } from '../journal/journal.js';
import type { NewEvent, TurnOpening, TurnRow } from '../journal/rows.js';
import { modelInfo } from '../model/prices.js';
import { conversationLimit } from '../model/request.js';
import {
  attachedToText,
  INTERRUPTED_BEFORE_END,
  isMarker,
  NO_ANSWER,
  noteText,
  noticeText,
  problemText,
  SEE_ATTACHED,
  userText,
  verdictText,
  withWords,
} from '../prompts/notices.js';
import { isResultText } from '../prompts/text-protocol.js';
import { attachedBlocks, attachmentsOf } from './attached.js';
import { resultsInText } from './text-messages.js';

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
    const results = await resultsOf(turn, input.previous, journal);
    content.push(...(isWritten(turn) ? resultsInText(results, callsOf(turn)) : results));
  }
  for (const notice of input.notices) {
    const todo = typeof notice === 'object' && notice.notice === 'todo' ? notice.todo : undefined;
    const list = todo && (await wordsOf(todo.text, journal));
    content.push({ type: 'text', text: noticeText(notice, list) });
  }
  for (const message of input.messages) {
    content.push({ type: 'text', text: userText(message.as, await saidWith(message, journal)) });
    content.push(...(await attachedBlocks(message.attachments, journal)));
  }
  if (content.length === 0) content.push({ type: 'text', text: noticeText('go_on') });
  return [...added, { role: 'user', content }];
}

/** What is left of a message that a rewind has taken out of the conversation. */
async function carriedOver({ message, blocks }: CarryOver, journal: Journal): Promise<MessageBlock[]> {
  const { content } = await journal.getMessage(message);
  return blocks === 'all' ? content : content.filter(isResult);
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

/** The words, or that there are none but what is attached. */
async function saidWith({ text, attachments }: Pick<UserMessage, 'text' | 'attachments'>, journal: Journal) {
  const words = await wordsOf(text, journal);
  return words.trim() === '' && attachments ? SEE_ATTACHED : words;
}

/** People see when their message has gone into a request. */
async function messageEvents(input: StreamInput, journal: Journal): Promise<NewEvent[]> {
  const events: NewEvent[] = [];
  for (const [at, message] of input.messages.entries()) {
    if (message.as === 'task') continue;
    const text = cut(await wordsOf(message.text, journal), MAX_SHOWN);
    const attachments = await attachmentsOf(message.attachments, journal);
    const attached = attachments.length > 0 && { attachments };
    events.push({
      key: message.id === undefined ? `${input.turn}:message:${at}` : `message:${message.id}`,
      event: { type: 'say', say: 'user_feedback', text, ...attached },
    });
  }
  return events;
}

/**
 * The answer as it is sent back: calls as they were written, or under our own ids, nothing blank, no thinking at the end.
 * Reasoning that nothing followed stays, since what was sent of it may not be left out before what stands for the answer.
 */
function answerOf(turn: TurnRow | undefined): MessageBlock[] {
  const blocks = (turn?.blocks ?? []).map((block): MessageBlock => {
    if (block.type !== 'tool_use') return block;
    return block.raw === undefined ? sentCall(turn!, block) : { type: 'text', text: block.raw };
  });
  const end = blocks.findLastIndex((block) => !isThinking(block)) + 1;
  if (end === 0) return [...blocks, { type: 'text', text: NO_ANSWER }];
  const last = blocks[end - 1]!;
  const isMarked = turn?.stop !== 'interrupted' || (last.type === 'text' && isMarker(last.text));
  return [...blocks.slice(0, end), ...(isMarked ? [] : [{ type: 'text' as const, text: INTERRUPTED_BEFORE_END }])];
}

function sentCall(
  { turn }: TurnRow,
  { name, input, block }: ToolUseBlock,
): Extract<MessageBlock, { type: 'tool_use' }> {
  return { type: 'tool_use', id: toolUseId(callKey(turn, block)), name: sendableName(name), input };
}

function callsOf(turn: TurnRow | undefined): ReturnType<typeof sentCall>[] {
  return (turn?.blocks ?? []).flatMap((block) => (block.type === 'tool_use' ? [sentCall(turn!, block)] : []));
}

/** The answer's calls came as text, so their results are text as well. */
function isWritten(turn: TurnRow | undefined): boolean {
  return (turn?.blocks ?? []).some((block) => block.type === 'tool_use' && block.raw !== undefined);
}

function isResult(block: MessageBlock): boolean {
  return block.type === 'tool_result' || (block.type === 'text' && isResultText(block.text));
}

/** Exactly one result for each call of the answer, in its order. */
async function resultsOf(turn: TurnRow | undefined, end: TurnEnd, journal: Journal): Promise<MessageBlock[]> {
  const calls = (turn?.blocks ?? []).filter((block): block is ToolUseBlock => block.type === 'tool_use');
  const results: MessageBlock[] = [];
  const behind: MessageBlock[] = [];
  for (const call of calls) {
    const { text, isError } = await resultOf(call, callKey(end.turn, call.block), end, journal);
    const shown = text.trim() === '' ? '(no output)' : text;
    const { inside, outside } = await attachedTo(call, end, isError, journal);
    results.push({
      type: 'tool_result',
      tool_use_id: toolUseId(callKey(end.turn, call.block)),
      content: [{ type: 'text', text: shown }, ...inside],
      ...(isError ? { is_error: true } : {}),
    });
    behind.push(...outside);
  }
  return [...results, ...behind];
}

/** What a person attached to the answer about a call. The API takes no image in the result of a call that failed. */
async function attachedTo(
  call: ToolUseBlock,
  end: TurnEnd,
  isError: boolean,
  journal: Journal,
): Promise<{ inside: ResultBlock[]; outside: MessageBlock[] }> {
  const verdict = end.verdicts.find((one) => one.block === call.block);
  const blocks = call.problem ? [] : await attachedBlocks(verdict?.attachments, journal);
  const images = blocks.filter((block): block is ImageBlock => block.type === 'image');
  if (!isError || images.length === 0) return { inside: blocks, outside: [] };
  const inside = blocks.filter(({ type }) => type === 'text');
  return { inside, outside: [{ type: 'text', text: attachedToText(call.name) }, ...images] };
}

async function resultOf(
  call: ToolUseBlock,
  key: string,
  end: TurnEnd,
  journal: Journal,
): Promise<{ text: string; isError: boolean }> {
  if (call.problem) return { text: problemText(call.problem, call), isError: true };
  const verdict = end.verdicts.find((one) => one.block === call.block);
  const { text: spoken, attachments } = verdict ?? {};
  const as = verdict?.as ?? 'feedback';
  const words = spoken && userText(as, await saidWith({ text: spoken, ...(attachments && { attachments }) }, journal));
  const note = verdict?.note && noteText(verdict.note);
  const stored = await journal.getResult(key);
  if (stored) {
    const text = await journal.getText(stored.text);
    return { text: withWords(text, words), isError: stored.status !== 'done' };
  }
  const status = verdict && !isPermission(verdict) ? verdict.status : end.rest;
  return { text: verdictText(status, note, words), isError: status !== 'done' };
}

/** Only allows the call: what came of it would be a result. */
function isPermission({ status, as, note }: Verdict): boolean {
  return status === 'done' && as === undefined && note === undefined;
}

function isThinking(block: MessageBlock): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking';
}

/** A name the model made up may hold characters that the API refuses in a request. */
function sendableName(name: string): string {
  const clean = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64);
  return clean === '' ? 'unnamed' : clean;
}

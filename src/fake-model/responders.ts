import { oneLine } from '../domain/text.js';
import type { Script } from './script.js';
import type { MessagesRequest, RequestMessage } from './shape.js';
import { type ContentStep, call, finish, type Step } from './steps.js';

/** What a responder decides on. */
export interface TurnRequest {
  body: MessagesRequest;
  /** Number of assistant messages in the request: which turn of a script it asks for, from 0. */
  turn: number;
  /** The same for every request of a conversation. */
  conversation: string;
  /** Text of the first user message. */
  prompt: string;
  /** Text of the last user message, without tool results. */
  lastText: string;
  /** Text of the last tool result, or '' when the last message holds none. */
  lastResult: string;
}

/**
 * Decides the answer from the request alone, so that a repeated request, or one to a server started anew, gets the
 * same answer.
 * @returns the steps of one answer; undefined when there is nothing to answer with, which is refused loudly
 */
export type Responder = (request: TurnRequest) => Step[] | undefined;

/** Plays a script: the turn is chosen by the number of assistant messages in the request. */
export function scripted(script: Script): Responder {
  return ({ prompt, turn }) => {
    const branch = script.branches.find(({ match }) => match === undefined || match.test(prompt));
    return branch?.turns[turn];
  };
}

/**
 * A model that makes `n` tool calls, one an answer, and then completes.
 * @param toolCall the i-th call, from 0
 */
export function manyCalls(n: number, toolCall: (i: number) => ContentStep): Responder {
  return ({ turn }) => {
    if (turn < n) return [toolCall(turn), finish()];
    return [call('attempt_completion', { result: `Made ${n} tool calls.` }), finish()];
  };
}

export function readTurn(body: MessagesRequest, conversation: string): TurnRequest {
  const { messages } = body;
  return {
    body,
    turn: messages.filter(({ role }) => role === 'assistant').length,
    conversation,
    prompt: textOf(messages.find(({ role }) => role === 'user')),
    lastText: textOf(messages.findLast(({ role }) => role === 'user')),
    lastResult: resultOf(messages.at(-1)),
  };
}

/** Longest excerpt put in the place of `{{last}}` and `{{user}}`. */
const EXCERPT = 200;

/** Fills `{{n}}` (the turn, from 1), `{{last}}` (the last tool result) and `{{user}}` (the last user text), one line each. */
export function fill(text: string, request: TurnRequest): string {
  return text.replace(/\{\{(n|last|user)\}\}/g, (_, name: string) => {
    if (name === 'n') return String(request.turn + 1);
    return oneLine(name === 'last' ? request.lastResult : request.lastText, EXCERPT);
  });
}

/** The same in every string inside a tool call's arguments. */
export function fillAll<T>(value: T, request: TurnRequest): T {
  if (typeof value === 'string') return fill(value, request) as T;
  if (Array.isArray(value)) return value.map((item) => fillAll(item, request)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillAll(item, request)])) as T;
}

function textOf(message: RequestMessage | undefined): string {
  return joinText(message?.content ?? []);
}

function resultOf(message: RequestMessage | undefined): string {
  const result = message?.content.findLast((block) => block.type === 'tool_result');
  return joinText(result?.content ?? []);
}

function joinText(blocks: readonly { type: string; text?: unknown }[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [String(block.text)] : [])).join('\n');
}

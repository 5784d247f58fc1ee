import { deepStrictEqual, ok } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { INTERRUPTED_BEFORE_END } from '../../src/prompts/notices.js';

interface Block {
  type: string;
  id?: string;
  tool_use_id?: string;
  [field: string]: unknown;
}
interface Message {
  role: string;
  content: Block[];
}

/** Another text that the result of a tool may have. */
export interface RestatedResult {
  tool: string;
  text: string;
}

export interface Body {
  messages: Message[];
}

/** The body of a request, without what differs between two runs of the same task: ids of calls, and the folder. */
export function withoutIds(body: unknown, workspace: string): Body {
  let text = JSON.stringify(body).replaceAll(workspace, '<workspace>');
  for (const [at, { content }] of (body as Body).messages.entries()) {
    for (const [block, { id }] of content.entries()) {
      if (id !== undefined) text = text.replaceAll(`"${id}"`, `"call ${at}.${block}"`);
    }
  }
  return JSON.parse(text) as Body;
}

/**
 * Compares what a model was sent last in a run with a crash with the same of a run without one. An answer may have been
 * cut behind a call that counted already: then it says so, its calls up to there have their results, and there is no word
 * of others.
 * A result may be restated.
 *
 * @param allowed.interrupted answers that the task's log calls so
 * @returns what a crash may change and has changed, in words
 * @throws AssertionError for any other difference
 */
export function crashDifferences(
  body: Body,
  wanted: Body,
  allowed: { interrupted: number; restated?: readonly RestatedResult[] },
): string[] {
  const messages = structuredClone(wanted.messages);
  const cuts = messages.flatMap((_, at) => cutAnswer(messages, at, body.messages[at]?.content ?? []));
  ok(cuts.length <= allowed.interrupted, 'an answer that was cut is called interrupted in the log');
  const restated = (allowed.restated ?? []).flatMap((one) => restate(messages, body.messages, one));
  deepStrictEqual(body, { ...wanted, messages });
  return [...cuts, ...restated];
}

const MARKER = { type: 'text', text: INTERRUPTED_BEFORE_END };

/** Cuts the answer at `at` where the one that was sent says that it was cut, if a call is before that. */
function cutAnswer(messages: Message[], at: number, sent: readonly Block[]): string[] {
  const answer = messages[at]!;
  const kept = sent.length - 1;
  const [rest, lost] = [answer.content.slice(0, kept), answer.content.slice(kept)];
  if (answer.role !== 'assistant' || !isDeepStrictEqual(sent.at(-1), MARKER) || !hasCall(rest)) return [];
  answer.content = [...rest, MARKER];
  const next = messages[at + 1];
  if (next) next.content = next.content.filter((block) => !lost.some(({ id }) => id && id === block.tool_use_id));
  return [`an answer was cut after ${kept} of its ${kept + lost.length} blocks`];
}

function restate(messages: Message[], sent: readonly Message[], { tool, text }: RestatedResult): string[] {
  const calls = messages.flatMap(({ content }) => content).filter(({ name }) => name === tool);
  return messages.flatMap(({ content }, at) =>
    content.flatMap((block, index) => {
      if (!calls.some(({ id }) => id === block.tool_use_id)) return [];
      const other = [{ type: 'text', text }];
      if (!isDeepStrictEqual(sent[at]?.content[index]?.content, other)) return [];
      block.content = other;
      return [`the result of ${tool} was stored after a restart, and says so`];
    }),
  );
}

function hasCall(blocks: Block[]): boolean {
  return blocks.some(({ type }) => type === 'tool_use');
}

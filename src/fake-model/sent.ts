import { isDeepStrictEqual } from 'node:util';
import type { Answer, AnswerBlock } from './answer.js';
import type { Prefix } from './prefix.js';
import type { Violation } from './rules.js';
import type { MessagesRequest, RequestMessage } from './shape.js';

/** Blocks that have to come back as they were sent. */
const PINNED = ['thinking', 'redacted_thinking', 'server_tool_use', 'web_search_tool_result', 'web_fetch_tool_result'];
/** Conversation prefixes remembered; the oldest are forgotten. */
const MAX_PREFIXES = 20_000;

/** The answers that were given to each conversation, to check what comes back (V6, V10). */
export class SentAnswers {
  private readonly byPrefix = new Map<string, Answer[]>();

  /** The answer may still grow. */
  add(prefix: Prefix, answer: Answer): void {
    const key = prefix.messages.at(-1) as string;
    this.byPrefix.set(key, [...(this.byPrefix.get(key) ?? []), answer]);
    if (this.byPrefix.size > MAX_PREFIXES) this.byPrefix.delete(this.byPrefix.keys().next().value as string);
  }

  /** Compares each assistant message with what was sent in its place, when anything was. */
  check(request: MessagesRequest, prefix: Prefix): Violation[] {
    return request.messages.flatMap((message, index) => {
      if (message.role !== 'assistant') return [];
      const answers = this.byPrefix.get(prefix.messages[index] as string) ?? [];
      if (answers.length === 0) return [];
      const problems = answers.map((answer) => difference(message, answer.content.filter(Boolean)));
      const problem = problems.includes(undefined) ? undefined : problems.at(-1);
      if (problem === undefined) return [];
      const rule = problem.startsWith('server') || problem.startsWith('web') ? 'V10' : 'V6';
      return [{ rule, message: `messages.${index}: ${problem} blocks have to be sent back as they were received` }];
    });
  }
}

/**
 * A message may hold the beginning of an answer that was cut short, but no pinned block may be changed, added, or left
 * out before a block that is there.
 * @returns the type of the first block that differs
 */
function difference(message: RequestMessage, sent: AnswerBlock[]): string | undefined {
  const pinned = message.content.filter((block) => PINNED.includes(block.type));
  const sentPinned = sent.filter((block) => PINNED.includes(block.type));
  for (const [at, block] of pinned.entries()) {
    const original = sentPinned[at];
    if (original === undefined || !isDeepStrictEqual(bare(original), bare(block))) return original?.type ?? block.type;
  }
  return sent.slice(0, coveredBy(message, sent)).filter((block) => PINNED.includes(block.type))[pinned.length]?.type;
}

/** How many blocks of the sent answer the message has to account for. */
function coveredBy(message: RequestMessage, sent: AnswerBlock[]): number {
  const calls = message.content.filter((block) => block.type === 'tool_use').length;
  if (calls > 0) return nthIndex(sent, 'tool_use', calls);
  const open = openServerCall(sent);
  if (open >= 0) return open + 1;
  return message.content.some((block) => block.type === 'text') ? nthIndex(sent, 'text', 1) : 0;
}

function openServerCall(sent: AnswerBlock[]): number {
  return sent.findIndex(
    (block) => block.type === 'server_tool_use' && !sent.some((other) => other.tool_use_id === block.id),
  );
}

function nthIndex(blocks: AnswerBlock[], type: string, n: number): number {
  let left = n;
  const at = blocks.findIndex((block) => block.type === type && --left === 0);
  return at < 0 ? blocks.length : at;
}

function bare(block: object): object {
  const { cache_control: _mark, ...rest } = block as { cache_control?: unknown };
  return rest;
}

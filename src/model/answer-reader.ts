import type { AnswerBlock, CallProblem } from '../domain/blocks.js';
import { NO_USAGE, type Usage } from '../domain/usage.js';
import { GatheredText } from './gathered-text.js';

/** A stream event of the Messages API as it came, ping included. */
export interface RawEvent {
  type: string;
  [field: string]: unknown;
}

/** What reading one event brought to light. */
export type ReaderOutput =
  | { kind: 'delta'; block: number; of: 'text' | 'reasoning'; offset: number; text: string }
  /** A block has begun, so every earlier one is over; `of` is its type. */
  | { kind: 'begin'; block: number; of: string }
  | { kind: 'block'; block: number; content: AnswerBlock }
  /** The stop reason is known; blocks still held back are now known to be whole, or cut. */
  | { kind: 'stop'; reason: string }
  | { kind: 'end' }
  | { kind: 'error'; error: { type: string; message: string } };

/** What reads the events of one answer. */
export type AnswerSource = Pick<
  AnswerReader,
  'usage' | 'usageComplete' | 'requestId' | 'received' | 'read' | 'unfinishedText' | 'unfinishedCalls'
>;

/** More tokens than any request has: a larger count is a mistake of the server. */
const MAX_TOKENS = 1e9;
/** Arguments nested deeper than this are no tool's, and would exhaust the stack. */
const MAX_DEPTH = 100;
const BACKSLASH = 92;
/** Most events bring nothing to light: they share one array. */
const NOTHING: readonly ReaderOutput[] = [];

type Partial =
  | { type: 'text'; text: GatheredText }
  | { type: 'thinking'; thinking: GatheredText; signature: string }
  | { type: 'redacted_thinking'; data: string }
  | { type: 'tool_use'; name: string; given: unknown; json: GatheredText };

/**
 * Puts an answer together from the raw events of its stream. Each event is looked at once, so the work is linear in the
 * length of the answer and does not depend on how it was cut. Events that make no sense (a stop without a start, an
 * unknown type) are passed over: a refusal is known to send some.
 */
export class AnswerReader {
  usage: Usage = NO_USAGE;
  /** The output token count is the final one. */
  usageComplete = false;
  requestId: string | undefined;
  /** Blocks that are arriving, by our number. */
  private readonly open = new Map<number, Partial>();
  /** The provider's index of a block → our number: the order in which blocks began. An index may be used again. */
  private readonly numbers = new Map<number, number>();
  private begun = 0;
  /** UTF-16 units received, for an estimate when the stream ends early. */
  received = 0;

  /** @param keepsText false: text comes in deltas only, none of which has an offset, and its blocks are empty */
  constructor(private readonly keepsText = true) {}

  read(event: RawEvent): readonly ReaderOutput[] {
    switch (event.type) {
      case 'message_start':
        this.readStart(record(event.message));
        return NOTHING;
      case 'content_block_start':
        return this.begin(event.index, record(event.content_block));
      case 'content_block_delta':
        return this.delta(event.index, record(event.delta));
      case 'content_block_stop':
        return this.finish(event.index);
      case 'message_delta': {
        this.readUsage(record(event.usage));
        this.usageComplete = true;
        const reason = record(event.delta).stop_reason;
        return typeof reason === 'string' ? [{ kind: 'stop', reason }] : NOTHING;
      }
      case 'message_stop':
        return [{ kind: 'end' }];
      case 'error': {
        const error = record(event.error);
        return [{ kind: 'error', error: { type: str(error.type) || 'api_error', message: str(error.message) } }];
      }
      default:
        return NOTHING;
    }
  }

  /** Blocks that were still arriving, as far as they came: shown text and nothing that could be executed. */
  unfinishedText(): { block: number; text: string }[] {
    const found: { block: number; text: string }[] = [];
    for (const [block, part] of this.open) {
      const text = part.type === 'text' ? part.text.toString().trimEnd() : '';
      if (text !== '') found.push({ block, text });
    }
    return found;
  }

  /** Tool calls that were still arriving when the answer ended, as blocks that can only be answered with an error. */
  unfinishedCalls(): { block: number; content: AnswerBlock }[] {
    const found: { block: number; content: AnswerBlock }[] = [];
    for (const [block, part] of this.open) {
      if (part.type !== 'tool_use') continue;
      const problem: CallProblem = { kind: 'truncated', message: 'The answer ended before the call was complete.' };
      found.push({ block, content: { type: 'tool_use', name: part.name, input: {}, block, problem } });
    }
    return found;
  }

  private readStart(message: Record<string, unknown>): void {
    if (typeof message.id === 'string') this.requestId = message.id;
    this.readUsage(record(message.usage));
  }

  /** Counts are cumulative, so a later one replaces an earlier one. */
  private readUsage(usage: Record<string, unknown>): void {
    const count = (name: string, before: number) => {
      const value = usage[name];
      return typeof value === 'number' && value >= 0 && value <= MAX_TOKENS ? Math.round(value) : before;
    };
    this.usage = {
      inputTokens: count('input_tokens', this.usage.inputTokens),
      outputTokens: count('output_tokens', this.usage.outputTokens),
      cacheWriteTokens: count('cache_creation_input_tokens', this.usage.cacheWriteTokens),
      cacheReadTokens: count('cache_read_input_tokens', this.usage.cacheReadTokens),
    };
  }

  private begin(index: unknown, block: Record<string, unknown>): readonly ReaderOutput[] {
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0) return NOTHING;
    const part = partialOf(block);
    const number = this.begun++;
    this.numbers.set(index, number);
    const out: ReaderOutput[] = [{ kind: 'begin', block: number, of: str(block.type) }];
    if (!part) return out;
    this.open.set(number, part);
    const first = (part.type === 'text' ? part.text : part.type === 'thinking' ? part.thinking : '').toString();
    if (first !== '') {
      this.received += first.length;
      out.push({
        kind: 'delta',
        block: number,
        of: part.type === 'text' ? 'text' : 'reasoning',
        offset: 0,
        text: first,
      });
    }
    return out;
  }

  private delta(index: unknown, delta: Record<string, unknown>): readonly ReaderOutput[] {
    const block = this.numberOf(index);
    const part = this.open.get(block);
    if (!part) return NOTHING;
    if (part.type === 'text' && delta.type === 'text_delta') {
      const text = str(delta.text);
      const offset = part.text.length;
      if (this.keepsText) part.text.add(text);
      this.received += text.length;
      return text === '' ? NOTHING : [{ kind: 'delta', block, of: 'text', offset, text }];
    }
    if (part.type === 'thinking' && delta.type === 'thinking_delta') {
      const text = str(delta.thinking);
      const offset = part.thinking.length;
      part.thinking.add(text);
      this.received += text.length;
      return text === '' ? NOTHING : [{ kind: 'delta', block, of: 'reasoning', offset, text }];
    }
    if (part.type === 'thinking' && delta.type === 'signature_delta') part.signature += str(delta.signature);
    if (part.type === 'tool_use' && delta.type === 'input_json_delta') {
      const text = str(delta.partial_json);
      part.json.add(text);
      this.received += text.length;
    }
    return NOTHING;
  }

  private finish(index: unknown): readonly ReaderOutput[] {
    const block = this.numberOf(index);
    const part = this.open.get(block);
    if (!part) return NOTHING;
    this.open.delete(block);
    if (part.type === 'text' && !this.keepsText) {
      return [{ kind: 'block', block, content: { type: 'text', text: '' } }];
    }
    const content = finished(part, block);
    return content ? [{ kind: 'block', block, content }] : NOTHING;
  }

  private numberOf(index: unknown): number {
    return (typeof index === 'number' ? this.numbers.get(index) : undefined) ?? -1;
  }
}

function partialOf(block: Record<string, unknown>): Partial | undefined {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: new GatheredText(str(block.text)) };
    case 'thinking':
      return { type: 'thinking', thinking: new GatheredText(str(block.thinking)), signature: str(block.signature) };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: str(block.data) };
    case 'tool_use':
      return { type: 'tool_use', name: str(block.name), given: block.input, json: new GatheredText() };
    default:
      return undefined;
  }
}

/** Blank text and unsigned thinking are dropped: the provider would refuse them in the next request. */
function finished(part: Partial, block: number): AnswerBlock | undefined {
  switch (part.type) {
    case 'text': {
      const text = part.text.toString();
      return text.trim() === '' ? undefined : { type: 'text', text };
    }
    case 'thinking':
      return part.signature === '' ? undefined : { ...part, thinking: part.thinking.toString() };
    case 'redacted_thinking':
      return part;
    case 'tool_use':
      return { type: 'tool_use', name: part.name, block, ...readInput(part.given, part.json.toString()) };
  }
}

function readInput(given: unknown, json: string): { input: Record<string, unknown>; problem?: CallProblem } {
  if (json.trim() === '') return { input: record(given) };
  if (depthOf(json) > MAX_DEPTH) {
    return { input: {}, problem: { kind: 'bad_json', message: `The arguments are nested deeper than ${MAX_DEPTH}.` } };
  }
  try {
    const value: unknown = JSON.parse(json);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      return { input: value as Record<string, unknown> };
    }
    return { input: {}, problem: { kind: 'bad_json', message: 'The arguments are not a JSON object.' } };
  } catch (err) {
    const why = err instanceof Error ? err.message : 'it does not parse';
    return {
      input: {},
      problem: { kind: 'bad_json', message: `The arguments are not valid JSON: ${why.slice(0, 200)}.` },
    };
  }
}

/** What matters of a JSON text for how deep it goes: brackets, and where strings begin. */
const BRACKETS = /["[\]{}]/g;

/** How deep the brackets of a JSON text go, those in strings left out. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  BRACKETS.lastIndex = 0;
  for (let found = BRACKETS.exec(json); found; found = BRACKETS.exec(json)) {
    const [char] = found;
    if (char === '"') BRACKETS.lastIndex = endOfString(json, found.index);
    else if (char === '{' || char === '[') deepest = Math.max(deepest, ++depth);
    else depth--;
  }
  return deepest;
}

/** @returns where the string that begins at `start` has ended */
function endOfString(json: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const quote = json.indexOf('"', at);
    if (quote < 0) return json.length;
    let before = quote;
    while (json.charCodeAt(before - 1) === BACKSLASH && before - 1 > start) before--;
    if ((quote - before) % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function record(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function str(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

import { createHash } from 'node:crypto';
import type { MessagesRequest } from './shape.js';
import type { UsageNumbers } from './steps.js';

/** A request as a chain of hashes, without its cache marks. */
export interface Prefix {
  /** `messages[k]` stands for the first k messages. */
  messages: string[];
  /** Tools, system blocks and message blocks in order; `tokens` is the sum up to and with this one. */
  blocks: { hash: string; tokens: number; marked: boolean }[];
  tokens: number;
  /** Stands for the conversation: the hash of its first message. */
  conversation: string;
}

/** UTF-16 units per token: crude, and always the same. */
const UNITS_PER_TOKEN = 4;
/** An image costs this much, whatever its size. */
const IMAGE_TOKENS = 1600;
/** How many blocks before a mark are looked up, as the Messages API documents it. */
const LOOKBACK = 20;

export function readPrefix(request: MessagesRequest): Prefix {
  const blocks: Prefix['blocks'] = [];
  const messages = [hashOf('', '')];
  let hash = '';
  let tokens = 0;
  const add = (item: object, role: string) => {
    const { cache_control: mark, ...rest } = item as { cache_control?: unknown };
    const json = JSON.stringify(rest);
    hash = hashOf(hash, role + json);
    tokens += tokensOf(rest, json);
    blocks.push({ hash, tokens, marked: mark != null });
    return json;
  };
  for (const tool of request.tools ?? []) add(tool, 'tool');
  for (const block of request.system ?? []) add(block, 'system');
  for (const message of request.messages) {
    const parts = message.content.map((block) => add(block, message.role));
    messages.push(hashOf(messages.at(-1) as string, message.role + parts.join()));
  }
  const last = blocks.at(-1);
  if (request.cache_control != null && last) last.marked = true;
  return { messages, blocks, tokens, conversation: messages[1] as string };
}

/** What has been written to the prompt cache. Nothing expires, and a server started anew has an empty one. */
export class PromptCache {
  private readonly written = new Set<string>();

  /** Counts a request's input, and keeps its marked prefixes. */
  use({ blocks, tokens }: Prefix): Required<Omit<UsageNumbers, 'output_tokens'>> {
    const marks = blocks.flatMap((block, index) => (block.marked ? [index] : []));
    let read = 0;
    for (const mark of marks) {
      for (let at = mark; at >= Math.max(0, mark - LOOKBACK); at--) {
        const block = blocks[at] as Prefix['blocks'][number];
        if (this.written.has(block.hash)) read = Math.max(read, block.tokens);
      }
    }
    const marked = Math.max(read, ...marks.map((mark) => blocks[mark]?.tokens ?? 0));
    for (const mark of marks) this.written.add(blocks[mark]?.hash as string);
    return {
      input_tokens: tokens - marked,
      cache_creation_input_tokens: marked - read,
      cache_read_input_tokens: read,
    };
  }
}

/** Tokens of a text of so many UTF-16 units, as this server counts them. */
export function tokensOfLength(units: number): number {
  return Math.ceil(units / UNITS_PER_TOKEN);
}

function tokensOf(block: object, json: string): number {
  return 'type' in block && block.type === 'image' ? IMAGE_TOKENS : tokensOfLength(json.length);
}

function hashOf(previous: string, text: string): string {
  return createHash('sha256').update(previous).update(text).digest('base64url');
}

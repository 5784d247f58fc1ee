import type Anthropic from '@anthropic-ai/sdk';
import { fitWindow } from '../context/window.js';
import type { Conversation, MessageBlock } from '../domain/blocks.js';
import { CHARS_PER_TOKEN, sizeOf } from '../domain/size.js';
import { fitImages } from './images.js';
import type { ModelInfo } from './prices.js';

/** A tool as the Messages API wants it. */
export interface OfferedTool {
  name: string;
  description: string;
  input_schema: { type: 'object'; [key: string]: unknown };
}

export interface ModelRequest {
  /** Images in it are references until `withImages`. */
  body: Anthropic.MessageCreateParamsNonStreaming;
  betas: string[];
  /** Rough size of the input in tokens, for the reservation. */
  inputEstimate: number;
}

/** Output tokens asked for; more only makes a runaway answer dearer. */
const MAX_OUTPUT = 32_000;

const MARK = { cache_control: { type: 'ephemeral' } } as const;

/**
 * Builds the request from what was gathered: pure, so that the same conversation is always the same bytes and the
 * provider's cache finds its prefix. Cache marks: last tool, system prompt, the last two user messages.
 */
export function prepareRequest(
  model: ModelInfo,
  system: string,
  tools: readonly OfferedTool[],
  conversation: Conversation,
): ModelRequest {
  const maxTokens = outputTokens(model);
  const fixed = Math.ceil(JSON.stringify([system, tools]).length / CHARS_PER_TOKEN);
  const shown = fitImages(fitWindow(conversation, model.window - maxTokens - fixed));
  const users = shown.flatMap((message, at) => (message.role === 'user' ? [at] : []));
  const marked = new Set(users.slice(-2));
  const messages = shown.map((message, at) => ({
    role: message.role,
    content: marked.has(at) ? markLast(message.content) : message.content,
  }));
  const offered = tools.map((tool, at) => (at === tools.length - 1 ? { ...tool, ...MARK } : tool));
  const body = {
    model: model.api,
    max_tokens: maxTokens,
    system: [{ type: 'text', text: system, ...MARK }],
    ...(offered.length > 0 && { tools: offered }),
    messages,
  } as Anthropic.MessageCreateParamsNonStreaming;
  const chars = shown.reduce((sum, message) => sum + sizeOf(message), 0);
  return { body, betas: model.betas, inputEstimate: fixed + Math.ceil(chars / CHARS_PER_TOKEN) };
}

/** Characters of a conversation that can fit into a request at most: more need not be read. */
export function conversationLimit(model: ModelInfo): number {
  return (model.window - outputTokens(model)) * CHARS_PER_TOKEN;
}

function outputTokens(model: ModelInfo): number {
  return Math.min(model.maxOutput, MAX_OUTPUT);
}

function markLast(content: readonly MessageBlock[]): unknown[] {
  return content.map((block, at) => (at === content.length - 1 ? { ...block, ...MARK } : block));
}

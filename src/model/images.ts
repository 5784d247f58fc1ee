import type Anthropic from '@anthropic-ai/sdk';
import { MAX_IMAGES } from '../attachments/limits.js';
import type { ImageBlock, Message, MessageBlock, ResultBlock } from '../domain/blocks.js';
import { LonghaulError } from '../domain/errors.js';
import type { Journal } from '../journal/journal.js';

/** All images of a request, before base64: 20 MB of base64 of the 32 MB that a request may have. */
const MAX_BYTES = 15_000_000;
/** Images in memory, as base64: characters. */
const CACHE_CHARS = 40_000_000;

/** Stands where an image was left out. */
export const IMAGE_LEFT_OUT = '[An image was here; it was left out to make room.]';
const IMAGE_LOST = '[An image was here; it is lost.]';

/**
 * Leaves out the oldest images where there are more than a request may hold: of two limits, and half of what one allows
 * at a time, so that the conversation's beginning stays the same for long. Those of the newest message always stay.
 */
export function fitImages(messages: readonly Message[]): Message[] {
  const sizes = messages.flatMap(({ content }) => imagesOf(content).map(({ bytes }) => bytes));
  const newest = imagesOf(messages.at(-1)?.content ?? []).length;
  const out = Math.min(sizes.length - newest, Math.max(overCount(sizes), overBytes(sizes)));
  if (out <= 0) return [...messages];
  let at = 0;
  const keep = <T extends MessageBlock | ResultBlock>(block: T) =>
    block.type === 'image' && at++ < out ? ({ type: 'text', text: IMAGE_LEFT_OUT } as const) : block;
  return messages.map((message) => {
    if (at >= out || imagesOf(message.content).length === 0) return message;
    const content = message.content.map((block) =>
      block.type === 'tool_result' ? { ...block, content: block.content.map(keep) } : keep(block),
    );
    return { ...message, content };
  });
}

function overCount(sizes: readonly number[]): number {
  const step = MAX_IMAGES / 2;
  return Math.max(0, Math.ceil((sizes.length - MAX_IMAGES) / step) * step);
}

function overBytes(sizes: readonly number[]): number {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const step = MAX_BYTES / 2;
  const cut = Math.ceil((total - MAX_BYTES) / step) * step;
  let out = 0;
  for (let before = 0; before < cut && out < sizes.length; out++) before += sizes[out]!;
  return out;
}

function imagesOf(content: readonly MessageBlock[]): ImageBlock[] {
  return content.flatMap((block) => {
    const inside = block.type === 'tool_result' ? block.content : [block];
    return inside.filter((one): one is ImageBlock => one.type === 'image');
  });
}

type Body = Anthropic.MessageCreateParamsNonStreaming;

/** The body with each image's content in place of its reference; the same references always make the same bytes. */
export async function withImages(body: Body, journal: Pick<Journal, 'getBlob'>): Promise<Body> {
  const messages = await Promise.all(
    body.messages.map(async (message) => {
      const content = message.content as unknown as MessageBlock[];
      if (imagesOf(content).length === 0) return message;
      const whole = await Promise.all(content.map((block) => withImage(block, journal)));
      return { ...message, content: whole } as unknown as typeof message;
    }),
  );
  return { ...body, messages };
}

async function withImage(block: MessageBlock, journal: Pick<Journal, 'getBlob'>): Promise<unknown> {
  if (block.type === 'tool_result') {
    return { ...block, content: await Promise.all(block.content.map((one) => withImage(one, journal))) };
  }
  if (block.type !== 'image') return block;
  const { blob, bytes: _, mediaType, ...more } = block;
  const data = await base64Of(blob, journal);
  if (data === undefined) return { type: 'text', text: IMAGE_LOST };
  return { ...more, source: { type: 'base64', media_type: mediaType, data } };
}

/** Least recently used first. */
const cache = new Map<string, string>();
let cached = 0;

/** @returns undefined for an image that the journal has lost: that costs the image, not the task */
async function base64Of(blob: string, journal: Pick<Journal, 'getBlob'>): Promise<string | undefined> {
  const known = cache.get(blob);
  if (known !== undefined) {
    cache.delete(blob);
    cache.set(blob, known);
    return known;
  }
  try {
    const data = Buffer.from(await journal.getBlob({ blob })).toString('base64');
    if (!cache.has(blob)) cached += data.length;
    cache.set(blob, data);
    for (const [id, { length }] of cache) {
      if (cached <= CACHE_CHARS) break;
      cache.delete(id);
      cached -= length;
    }
    return data;
  } catch (err) {
    if (LonghaulError.is(err) && err.slug === 'journal-lost') return undefined;
    throw err;
  }
}

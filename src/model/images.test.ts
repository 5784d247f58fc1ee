import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message, MessageBlock } from '../domain/blocks.js';
import { LonghaulError } from '../domain/errors.js';
import { sizeOf } from '../domain/size.js';
import { fitImages, IMAGE_LEFT_OUT, withImages } from './images.js';
import { modelInfo } from './prices.js';
import { prepareRequest } from './request.js';

const image = (bytes: number, blob = 'a'.repeat(64)) =>
  ({ type: 'image', mediaType: 'image/png', blob, bytes }) as const;
const user = (...sizes: number[]): Message => ({
  role: 'user',
  content: [{ type: 'text', text: 't' }, ...sizes.map((one) => image(one))],
});
const result = (...sizes: number[]): Message => ({
  role: 'user',
  content: [
    {
      type: 'tool_result',
      tool_use_id: 'x',
      content: [{ type: 'text', text: 'r' }, ...sizes.map((one) => image(one))],
    },
  ],
});
const answer: Message = { role: 'assistant', content: [{ type: 'text', text: 'a' }] };

const blocksOf = ({ content }: Message): MessageBlock[] =>
  content.flatMap((block) => (block.type === 'tool_result' ? block.content : [block]));
const sizesIn = (messages: Message[]) =>
  messages.flatMap((message) => blocksOf(message).flatMap((block) => (block.type === 'image' ? [block.bytes] : [])));

describe('fitImages', () => {
  const turn = fc.tuple(
    fc.constantFrom(user, result),
    fc.array(fc.integer({ min: 1, max: 700_000 }), { maxLength: 20 }),
  );

  it('keeps to what a request may hold, keeps the newest, and leaves the oldest out', () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 12 }), (turns) => {
        const all = turns.flatMap(([make, sizes]) => [make(...sizes), answer]).slice(0, -1);
        const kept = sizesIn(fitImages(all));
        expect(kept.length).toBeLessThanOrEqual(20);
        expect(kept.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(15_000_000);
        expect(sizesIn(all).slice(sizesIn(all).length - kept.length)).toEqual(kept);
        expect(kept.length).toBeGreaterThanOrEqual(turns.at(-1)?.[1].length ?? 0);
        const gone = fitImages(all)
          .flatMap(blocksOf)
          .filter((block) => block.type === 'text' && block.text === IMAGE_LEFT_OUT);
        expect(gone).toHaveLength(sizesIn(all).length - kept.length);
      }),
    );
  });

  it('changes what was sent before seldom, however many images come', () => {
    const leftOut = new Set<number>();
    const all: Message[] = [];
    for (let turn = 1; turn <= 100; turn++) {
      all.push(user(1000), answer);
      leftOut.add(turn - sizesIn(fitImages([...all, user()])).length);
    }
    expect([...leftOut]).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80]);
  });
});

describe('withImages', () => {
  const bodyOf = (...messages: Message[]) =>
    prepareRequest(modelInfo('claude-sonnet-5'), 's', [], { messages, skipped: 0 }).body;

  it('puts the content in, with the cache mark where it was, the same bytes each time', async () => {
    const journal = { getBlob: async ({ blob }: { blob: string }) => Buffer.from(blob) };
    const body = bodyOf(result(5), answer, { role: 'user', content: [image(3, 'b'.repeat(64))] });
    const whole = await withImages(body, journal);
    expect(JSON.stringify(await withImages(body, journal))).toBe(JSON.stringify(whole));
    const data = Buffer.from('b'.repeat(64)).toString('base64');
    expect(whole.messages.at(-1)?.content).toEqual([
      {
        type: 'image',
        cache_control: { type: 'ephemeral' },
        source: { type: 'base64', media_type: 'image/png', data },
      },
    ]);
    expect(JSON.stringify(whole)).not.toContain('mediaType');
    expect(JSON.stringify(whole.messages[0])).toContain(Buffer.from('a'.repeat(64)).toString('base64'));
  });

  it('costs a lost image, not the task', async () => {
    const getBlob = async () => {
      throw new LonghaulError('journal-lost', 'gone');
    };
    const whole = await withImages(bodyOf({ role: 'user', content: [image(3, 'c'.repeat(64))] }), { getBlob });
    expect(whole.messages[0]?.content).toMatchObject([{ type: 'text', text: expect.stringContaining('lost') }]);
  });
});

it('an image counts as its tokens, wherever it is', () => {
  for (const make of [user, result]) expect(sizeOf(make(9, 9)) - sizeOf(make())).toBeGreaterThan(2 * 1600 * 3.5);
});

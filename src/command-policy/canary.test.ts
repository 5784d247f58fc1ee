// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts for a shell
import { afterAll, describe, expect, it } from 'vitest';
import { Canary } from '../../test/support/canary.js';
import { DANGEROUS, OUTSIDE, PAYLOADS, PLAIN, WRAPPED } from '../../test/support/canary-lines.js';

const canary = new Canary();
afterAll(() => canary[Symbol.dispose]());

describe('with --approve safe', () => {
  it.each(PLAIN)('%j runs unasked, and changes nothing', async (line) => {
    expect(await canary.judge(line)).toEqual({ verdict: 'unasked', outside: false });
    expect(canary.run(line).changed).toEqual([]);
  });

  it.each(OUTSIDE)('%j also needs read-outside, and changes nothing', async (line) => {
    expect(await canary.judge(line)).toEqual({ verdict: 'unasked', outside: true });
    expect(canary.run(line).changed).toEqual([]);
  });

  it.each(DANGEROUS)('%j is asked about', async (line) => {
    const judged = await canary.judge(line);
    if (judged.verdict === 'unasked') expect(canary.run(line)).toBe('not to be run');
    expect(judged.verdict).toBe('ask');
  });
});

describe('wrapped in every way', () => {
  const lines = WRAPPED.flatMap((wrap) => PAYLOADS.map((payload) => wrap(payload)));

  it('they are many, and they do what they should not', () => {
    expect(lines.length).toBeGreaterThan(200);
    const harmless = WRAPPED.filter((wrap) =>
      PAYLOADS.every((payload) => canary.run(wrap(payload)).changed.length === 0),
    );
    expect(harmless.map((wrap) => wrap('PAYLOAD'))).toEqual([]);
  });

  it.each(lines)('%j is asked about', async (line) => {
    expect((await canary.judge(line)).verdict).toBe('ask');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clock, dateTime, displayWidth, duration, fitTo, money, table, tokens } from './text.js';

describe('layout', () => {
  it('cuts to the width and keeps what fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 2, max: 30 }), (text, max) => {
        const cut = fitTo(text, max);
        expect(displayWidth(cut)).toBeLessThanOrEqual(max);
        if (displayWidth(text) <= max) expect(cut).toBe(text);
        else expect(cut.endsWith('…')).toBe(true);
      }),
    );
  });

  it('counts wide characters as two columns and lines columns up by that', () => {
    expect(displayWidth('日本')).toBe(4);
    expect(displayWidth('e\u0301')).toBe(1);
    expect(
      table(
        [
          ['日本', 'x'],
          ['abcdef', 'y'],
        ],
        80,
      ),
    ).toEqual(['日本    x', 'abcdef  y']);
  });

  it('cuts the last column only', () => {
    const [line] = table([['id', 'a long title of a task']], 18);
    expect(line).toBe('id  a long title …');
  });
});

describe('amounts', () => {
  it('names durations in the units people use', () => {
    expect([850, 12_345, 65_000, 12_000_000, 190_000_000].map(duration)).toEqual([
      '850 ms',
      '12.3 s',
      '1 min 5 s',
      '3 h 20 min',
      '2 d 5 h',
    ]);
    expect(duration(3_600_000)).toBe('1 h');
  });

  it('writes times in one unambiguous form', () => {
    const at = new Date(2026, 0, 2, 3, 4, 5).getTime();
    expect([dateTime(at), clock(at)]).toEqual(['2026-01-02 03:04:05', '03:04:05']);
  });

  it('shows small costs with four digits', () => {
    expect([money(0.01234), money(12.345)]).toEqual(['$0.0123', '$12.35']);
  });

  it('says how much of the input came from the cache', () => {
    const usage = { inputTokens: 100, cacheReadTokens: 800, cacheWriteTokens: 100, outputTokens: 1234 };
    expect(tokens(usage)).toBe('1,000 tokens in (80 % from cache), 1,234 out');
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstHalf, split } from './deltas.js';

const whole = fc.string({ unit: 'grapheme', maxLength: 200 });

describe('deltas', () => {
  it('join to the text, and never cut a character', () => {
    const chunking = fc.oneof(
      fc.integer({ min: 1, max: 30 }),
      fc.record({ seed: fc.integer(), min: fc.integer({ min: 1, max: 5 }), max: fc.integer({ min: 5, max: 40 }) }),
    );
    fc.assert(
      fc.property(whole, chunking, (text, how) => {
        const pieces = split(text, how);
        expect(pieces.join('')).toBe(text);
        expect(pieces.every((piece) => piece !== '' && !/^[\udc00-\udfff]/.test(piece))).toBe(true);
        expect(split(text, how)).toEqual(pieces);
      }),
    );
  });

  it('have the length asked for, or lengths between the bounds', () => {
    expect(split('abcdefg', 3)).toEqual(['abc', 'def', 'g']);
    const lengths = split('x'.repeat(1000), { seed: 1, min: 2, max: 9 })
      .slice(0, -1)
      .map((piece) => piece.length);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(2);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(9);
    expect(new Set(lengths).size).toBeGreaterThan(3);
    expect(split('x'.repeat(100), { seed: 1, min: 2, max: 9 })).not.toEqual(
      split('x'.repeat(100), { seed: 2, min: 2, max: 9 }),
    );
  });

  it('halve a text inside no character', () => {
    fc.assert(
      fc.property(whole, (text) => {
        const half = firstHalf(text);
        expect(text.startsWith(half)).toBe(true);
        expect(half.length).toBeLessThanOrEqual(text.length / 2);
        expect(/[\ud800-\udbff]$/.test(half)).toBe(false);
      }),
    );
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { didYouMean, editDistance, nearest } from './nearest.js';

it('counts a swap, an insertion, a deletion and a replacement as one', () => {
  for (const word of ['yse', 'yess', 'es', 'yas']) expect(editDistance(word, 'yes')).toBe(1);
  expect(editDistance('maybe', 'yes')).toBeGreaterThan(1);
});

it('is symmetric, zero for equal words only, and no more than the longer word', () => {
  const word = fc.string({ maxLength: 8 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      const distance = editDistance(a, b);
      expect(editDistance(b, a)).toBe(distance);
      expect(distance === 0).toBe(a === b);
      expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length));
    }),
  );
});

it('suggests what is near only', () => {
  expect(nearest('modle', ['model', 'approve'])).toBe('model');
  expect(nearest('foo', ['from', 'text'])).toBeUndefined();
  expect(didYouMean('maxturns', ['maxTurns'])).toBe(' Did you mean maxTurns?');
  expect(didYouMean('x'.repeat(100_000), ['x'])).toBe('');
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shortHash } from './hash.js';
import { judgeLoop, rememberCall } from './loops.js';

function verdicts(calls: readonly string[]): string {
  let recent = '';
  return calls
    .map((call) => {
      recent = rememberCall(recent, shortHash(call));
      return judgeLoop(recent)[0];
    })
    .join('');
}

describe('loops of calls', () => {
  it.each([
    ['AAAAA', 'nnwne'],
    ['AABAA', 'nnnnn'],
    ['ABABABABAB', 'nnnnnwnnne'],
    ['ABCABCABC', 'nnnnnnnnw'],
    ['ABCDABCDABCDABCDABCD', 'nnnnnnnnnnnwnnnnnnne'],
    ['XYAAA', 'nnnnw'],
    ['AAAAAB', 'nnwnen'],
    ['ABCDEABCDEABCDEABCDEABCDE', 'n'.repeat(25)],
  ])('%s: %s', (calls, expected) => {
    expect(verdicts([...calls])).toBe(expected);
  });

  it('says nothing of calls that differ', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 40 }), (calls) => {
        expect(verdicts(calls)).toBe('n'.repeat(calls.length));
      }),
    );
  });

  it('finds every cycle of up to four different calls at its fifth round, whatever came before', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string(), { minLength: 1, maxLength: 4 }),
        fc.uniqueArray(fc.string(), { maxLength: 30 }),
        (cycle, before) => {
          const calls = [...before.map((one) => `before ${one}`), ...Array.from({ length: 5 }, () => cycle).flat()];
          expect(verdicts(calls).endsWith('e')).toBe(true);
          expect(verdicts(calls).slice(0, -1)).not.toContain('e');
        },
      ),
    );
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeOutput, MAX_RESULT_CHARS, MAX_RESULT_LINES } from './command-result.js';

function output(text: string) {
  const head = Buffer.from(text);
  return { head, tail: Buffer.alloc(0), gap: 0, lines: text.split('\n').length - 1, bytes: head.length };
}

test('short output comes whole, without the last line end', () => {
  expect(describeOutput(output('a\n\nb\n'))).toBe('a\n\nb');
  expect(describeOutput(output(''))).toBe('');
});

test('of many lines both ends, and how many are missing', () => {
  const lines = Array.from({ length: 2000 }, (_, i) => `line ${i + 1}`);
  const shown = describeOutput(output(`${lines.join('\n')}\n`)).split('\n');
  expect(shown).toEqual([...lines.slice(0, 250), '[... 1,500 lines left out ...]', ...lines.slice(-250)]);
});

test('empty lines without end, before and after a word', () => {
  const shown = describeOutput(output(`${'\n'.repeat(250_000)}x${'\n'.repeat(250_000)}`)).split('\n');
  expect(shown).toHaveLength(501);
  expect(shown.at(-1)).toBe('x');
});

test('of one long line both ends, no half character', () => {
  const shown = describeOutput(output(`a${'😀'.repeat(60_000)}z`));
  expect(shown).not.toMatch(/\p{Cs}/u);
  expect(shown.startsWith('a😀')).toBe(true);
  expect(shown.endsWith('😀z')).toBe(true);
  expect(shown).toContain('left out');
});

test('where the middle was never kept, the count is still of all lines', () => {
  const head = Buffer.from('first\n'.repeat(1000));
  const tail = Buffer.from(`half a line\n${'last\n'.repeat(1000)}`);
  const shown = describeOutput({ head, tail, gap: 1e6, lines: 100_000, bytes: 2e6 }).split('\n');
  expect(shown[250]).toBe('[... 99,500 lines left out ...]');
  expect(shown).toHaveLength(501);
  expect(describeOutput({ head, tail, gap: 1e6, lines: null, bytes: 2e6 })).toContain(
    'the middle of the output is left out',
  );
});

test('never larger than the limits, whatever is printed', () => {
  const piece = fc.tuple(
    fc.constantFrom('x', 'é😀', '\n', 'a\n', '\r', '\x1b[1m', ' '),
    fc.integer({ min: 1, max: 30_000 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.map(([unit, times]) => unit.repeat(times)).join('');
      const shown = describeOutput(output(text));
      expect(shown.length).toBeLessThanOrEqual(MAX_RESULT_CHARS + 100);
      expect(shown.split('\n').length).toBeLessThanOrEqual(MAX_RESULT_LINES + 1);
      expect(shown).not.toMatch(/\p{Cs}/u);
    }),
    { numRuns: 60 },
  );
});

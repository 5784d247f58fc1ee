import { applyPatch, createTwoFilesPatch } from 'diff';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutLines, unifiedDiff } from './diffs.js';

const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '', 'd'), { maxLength: 30 }), fc.boolean())
  .map(([lines, end]) => lines.join('\n') + (end && lines.length > 0 ? '\n' : ''));

test('a diff turns the one text into the other, and is that of the whole files where they have one change', () => {
  fc.assert(
    fc.property(text, text, text, text, (head, before, after, tail) => {
      const [old, fresh] = [head + before + tail, head + after + tail];
      const diff = unifiedDiff('f', old, fresh, 1e6);
      expect(applyPatch(old, diff.text)).toBe(fresh);
      const lines = diff.text.split('\n').slice(2);
      expect(lines.filter((line) => line.startsWith('+'))).toHaveLength(diff.added);
      expect(lines.filter((line) => line.startsWith('-'))).toHaveLength(diff.removed);
    }),
    { numRuns: 2000 },
  );
});

test('three lines of context, whatever lies around', () => {
  const lines = Array.from({ length: 40 }, (_, i) => `line ${i}\n`);
  const after = lines.with(20, 'changed\n').join('');
  const whole = createTwoFilesPatch('a/f', 'b/f', lines.join(''), after, undefined, undefined, { context: 3 });
  expect(unifiedDiff('f', lines.join(''), after, 1e6).text).toBe(whole.replace(/^=+\n/, ''));
});

test('line endings show only where they change, and control characters always', () => {
  expect(unifiedDiff('f', 'a\r\nb\r\n', 'a\r\nc\r\n', 1e6).text).not.toContain('\u240d');
  expect(unifiedDiff('f', 'a\r\nb\r\n', 'a\nb\n', 1e6).text).toContain('-a\u240d\n-b\u240d\n+a\n+b\n');
  expect(unifiedDiff('f', undefined, 'safe\rrm\u001b[1A\n', 1e6).text).toContain('+safe\u240drm\u241b[1A\n');
});

test('bounded: cut at a line; a rewritten file is shown as removed and added', () => {
  const many = Array.from({ length: 3000 }, (_, i) => `new ${i}\n`).join('');
  const cut = unifiedDiff('f', undefined, many, 1000).text;
  expect(cut.length).toBeLessThan(1100);
  expect(cut).toMatch(/\+new \d+\n\(cut here; \d+ more lines\)$/);
  const [old, fresh] = [0, 1].map((n) => Array.from({ length: 9000 }, (_, i) => `${n} ${i}\n`).join(''));
  const rewritten = unifiedDiff('f', old, fresh ?? '', 1e7);
  expect(rewritten).toMatchObject({ added: 9000, removed: 9000 });
  expect(applyPatch(old ?? '', rewritten.text)).toBe(fresh);
  expect(cutLines('x'.repeat(50), 10)).toBe(`${'x'.repeat(10)}\n(cut here; 1 more lines)`);
});

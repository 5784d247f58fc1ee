import { applyPatch, createTwoFilesPatch } from 'diff';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unifiedDiff, visibleWithin } from './diffs.js';

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
  expect(cut).toMatch(/\+new \d+\n\(cut here; \d+ more lines\)\n$/);
  const [old, fresh] = [0, 1].map((n) => Array.from({ length: 9000 }, (_, i) => `${n} ${i}\n`).join(''));
  const rewritten = unifiedDiff('f', old, fresh ?? '', 1e7);
  expect(rewritten).toMatchObject({ added: 9000, removed: 9000 });
  expect(applyPatch(old ?? '', rewritten.text)).toBe(fresh);
  expect(visibleWithin('x'.repeat(50), 10)).toBe(`${'x'.repeat(10)}\n(cut here; 1 more lines)`);
});

test('of texts too large to compare, both beginnings and the counts are given', () => {
  const lines = Array.from({ length: 300_000 }, (_, i) => `log line ${i}`);
  const before = lines.join('\n');
  const after = lines.with(0, 'first').with(-1, 'last').join('\n');
  const diff = unifiedDiff('f', before, after, 2000);
  expect(diff).toMatchObject({ added: 300_000, removed: 300_000 });
  expect(diff.text.length).toBeLessThan(2100);
  expect(diff.text).toMatch(
    /^--- a\/f\n\+\+\+ b\/f\n@@ -1,300000 \+1,300000 @@\n-log line 0\n(-.*\n)+\(cut here; \d+ more lines\)\n\+first\n(\+.*\n)+\(cut here; \d+ more lines\)\n$/,
  );
  const emptied = unifiedDiff('f', before, 'x\n', 2000);
  expect(emptied).toMatchObject({ added: 1, removed: 300_000 });
  expect(emptied.text).toMatch(/more lines\)\n\+x\n$/);
  const middle = unifiedDiff('f', before, lines.with(150_000, 'other').join('\n'), 2000);
  expect(middle).toMatchObject({ added: 1, removed: 1 });
  expect(middle.text).toContain('@@ -149998,7 +149998,7 @@\n log line 149997\n');
  const wide = unifiedDiff('f', 'a'.repeat(3_000_000), `b${'a'.repeat(3_000_000)}`, 2000);
  expect(wide).toMatchObject({ added: 1, removed: 1 });
  expect(wide.text.length).toBeLessThan(2200);
});

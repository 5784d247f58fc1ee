import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseEdits } from './edit-blocks.js';
import { applyEdits } from './edits.js';

function block(search: string[], replace: string[]): string {
  return ['------- SEARCH', ...search, '=======', ...replace, '+++++++ REPLACE', ''].join('\n');
}

function edit(text: string, ...blocks: [string[], string[]][]): string {
  return applyEdits(text, parseEdits(blocks.map(([search, replace]) => block(search, replace)).join('')), 'f').text;
}

function refusal(text: string, diff: string): string {
  try {
    applyEdits(text, parseEdits(diff), 'f');
  } catch (err) {
    return (err as Error).message;
  }
  throw new Error('not refused');
}

interface Line {
  text: string;
  end: string;
}
function linesOf(text: string): Line[] {
  const parts = text.split(/(\r?\n)/);
  const lines = parts.flatMap((part, i) => (i % 2 === 0 ? [{ text: part, end: parts[i + 1] ?? '' }] : []));
  return lines.at(-1)?.text === '' ? lines.slice(0, -1) : lines;
}

interface Cut {
  keep: number;
  take: number;
  insert: string[];
  context: boolean;
}

const insertedText = fc.constantFrom(
  '$&',
  '$$',
  '$`',
  "$'",
  '$1',
  '  x',
  '',
  '\ttab',
  '</content>',
  '```',
  'é€',
  '=====x',
);
const cuts = fc.array(
  fc.record({
    keep: fc.nat(4),
    take: fc.integer({ min: 1, max: 4 }),
    insert: fc.array(insertedText, { maxLength: 4 }),
    context: fc.boolean(),
  }),
  { minLength: 1, maxLength: 5 },
);

/** Lays the cuts over lines that are all different; says what every line of the result has to be. */
function plan(lines: Line[], list: Cut[]): { diff: string; expected: (Line | string)[] } {
  let at = 0;
  const expected: (Line | string)[] = [];
  const diff: string[] = [];
  for (const { keep, take, insert, context } of list) {
    expected.push(...lines.slice(at, at + keep));
    at += keep;
    const taken = lines.slice(at, at + take);
    if (taken.length === 0) break;
    const [first, last] = [taken[0] as Line, taken.at(-1) as Line];
    const fresh = insert.map((text, i) => `new ${at}.${i} ${text}`);
    const around = context && taken.length > 1;
    expected.push(...(around ? [first] : []), ...fresh, ...(around ? [last] : []));
    const replace = around ? [first.text, ...fresh, last.text] : fresh;
    diff.push(
      block(
        taken.map((line) => line.text),
        replace,
      ),
    );
    at += take;
  }
  expected.push(...lines.slice(at));
  return { diff: diff.join(''), expected };
}

const fileLines = fc
  .array(
    fc.record({ text: fc.constantFrom('', ' ', '  if (x) {', 'é', '$&', 'a\rb'), end: fc.constantFrom('\n', '\r\n') }),
    {
      minLength: 1,
      maxLength: 25,
    },
  )
  .map((lines) => lines.map(({ text, end }, i) => ({ text: `${text}line ${i}`, end })));

test('lines outside the change, and context inside it, keep their bytes; new lines are literal', () => {
  fc.assert(
    fc.property(fileLines, cuts, fc.boolean(), fc.constantFrom('mixed', '\n', '\r\n'), (drawn, list, noEnd, style) => {
      const lines = drawn.map((line) => (style === 'mixed' ? line : { ...line, end: style }));
      if (noEnd) (lines.at(-1) as Line).end = '';
      const { diff, expected } = plan(lines, list);
      const text = lines.map((line) => line.text + line.end).join('');
      // Without any line feed a carriage return breaks lines: that is another test.
      if (diff === '' || (text.includes('\r') && !text.includes('\n'))) return;
      const after = linesOf(applyEdits(text, parseEdits(diff), 'f').text);
      expect(after.map((line) => line.text)).toEqual(
        expected.map((line) => (typeof line === 'string' ? line : line.text)),
      );
      const used = new Set(lines.map((line) => line.end));
      expected.forEach((line, i) => {
        if (typeof line !== 'string' && line.end !== '') expect(after[i]?.end, `line ${i}`).toBe(line.end);
        if (typeof line === 'string' && lines.length > 1) expect(used).toContain(after[i]?.end);
      });
    }),
    { numRuns: 1500 },
  );
});

test('a CRLF file matches LF blocks and keeps its line endings', () => {
  expect(
    edit('a\r\nb\r\nc\r\nd\r\n', [
      ['b', 'c'],
      ['B', 'C', 'new'],
    ]),
  ).toBe('a\r\nB\r\nC\r\nnew\r\nd\r\n');
  expect(edit('a\rb\rc\r', [['b'], ['x', 'y']])).toBe('a\rx\ry\rc\r');
  expect(
    edit('a\r\nb\nc\r\n', [
      ['a', 'b', 'c'],
      ['a', 'B', 'c'],
    ]),
  ).toBe('a\r\nB\nc\r\n');
  expect(applyEdits('a\nb\n', parseEdits(block(['b'], ['c']).replaceAll('\n', '\r\n')), 'f').text).toBe('a\nc\n');
});

test('a last line without a break stays without one', () => {
  expect(edit('a\nb', [['b'], ['c']])).toBe('a\nc');
  expect(edit('a\nb', [['b'], ['b', 'c']])).toBe('a\nb\nc');
  expect(edit('a\r\nb', [['a', 'b'], ['b']])).toBe('b');
  expect(edit('b', [['b'], ['x', 'b']])).toBe('x\nb');
});

test('exact lines are preferred to lines that only end the same, those to trimmed ones', () => {
  expect(edit('ab = 1\nb = 1\n', [['b = 1'], ['c']])).toBe('ab = 1\nc\n');
  expect(edit('  foo\n  bar\n', [['foo'], ['baz']])).toBe('  baz\n  bar\n');
  expect(edit('  foo\n', [['foo'], []])).toBe('');
  const loose = applyEdits('  if (x) {\n\ty();  \n  }\n', parseEdits(block(['if (x) {', 'y();', '}'], ['z'])), 'f');
  expect(loose).toEqual({ text: 'z\n', loose: [1] });
});

test('lines in the middle that do not match are never replaced', () => {
  const message = refusal('start\nkept 1\nkept 2\nend\n', block(['start', 'other', 'kept 2', 'end'], ['start', 'end']));
  expect(message).toContain('Nothing was changed');
  expect(message).toContain('SEARCH line 2 is "other", but line 2 of the file is "kept 1"');
});

test('repeated text: each block takes the first match after the one before', () => {
  expect(edit('x\na\nx\na\nx\n', [['x'], ['1']], [['x'], ['2']])).toBe('1\na\n2\na\nx\n');
  expect(edit('a\nb\nc\n', [['c'], ['C']], [['a'], ['A']])).toBe('A\nb\nC\n');
});

test('overlapping blocks are an error', () => {
  const twice = block(['b'], ['c']) + block(['b'], ['d']);
  expect(refusal('a\nb\n', twice)).toContain('already replaces');
  expect(refusal('a\nb\nc\n', block(['a', 'b'], ['x']) + block(['b', 'c'], ['y']))).toContain('already replaces');
});

test('an empty SEARCH is only for an empty file', () => {
  expect(edit('', [[], ['one', 'two']])).toBe('one\ntwo\n');
  expect(refusal('a\n', block([], ['x']))).toContain('empty SEARCH');
  expect(refusal('', block(['a'], ['x']))).toContain('new or empty');
});

test('a miss shows the nearest text with its line number and claims nothing else', () => {
  const file = `${Array.from({ length: 50 }, (_, i) => `const value${i} = ${i};`).join('\n')}\nfoo(\n\n\n  bar)\n`;
  const message = refusal(file, block(['foo(', '', '  bar)'], ['x']));
  expect(message).toContain('51 | foo(\n52 | \n53 | \n54 |   bar)');
  expect(message).toContain('line 53 of the file is ""');
  expect(message).not.toMatch(/revert/i);
  expect(refusal('alpha beta gamma\nzzz\n', block(['alpha beta delta'], ['x']))).toContain('1 | alpha beta gamma');
  expect(refusal('zzz\n', block(['entirely different'], ['x']))).toContain('No line of the file resembles');
});

test('other spellings of the markers', () => {
  const legacy = 'Here it is:\n```diff\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n';
  const short = '--- SEARCH>\na\n===\nb\n+++ REPLACE>\n';
  const open = '------- SEARCH\na\n=======\nb';
  for (const diff of [legacy, short, open, `${open}\n+++++++ REPL`]) {
    expect(applyEdits('a\n', parseEdits(diff), 'f').text, diff).toBe('b\n');
  }
});

test('text that looks like markers', () => {
  const conflict = '<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\nz\n';
  const lines = conflict.split('\n').slice(0, 5);
  expect(edit(conflict, [lines, ['merged']])).toBe('merged\nz\n');
  expect(
    edit('Title\n=======\nx\n', [
      ['Title', '======='],
      ['Other', '======='],
    ]),
  ).toBe('Other\n=======\nx\n');
  const long = [
    '----------- SEARCH',
    '------- SEARCH',
    '===========',
    '+++++++ REPLACE',
    '=======',
    '+++++++++++ REPLACE',
  ];
  expect(applyEdits('------- SEARCH\n', parseEdits(long.join('\n')), 'f').text).toBe('+++++++ REPLACE\n=======\n');
});

test('diffs that cannot be read', () => {
  const cases: [string, RegExp][] = [
    ['just text', /no SEARCH\/REPLACE block/],
    ['------- SEARCH\na\n+++++++ REPLACE\n', /no ======= line/],
    ['------- SEARCH\na\n=======\nb\n------- SEARCH\nc\n=======\nd\n+++++++ REPLACE\n', /block 1 is not closed/],
    ['a\n+++++++ REPLACE\n', /line 2 of the diff closes a block/],
  ];
  for (const [diff, reason] of cases) expect(() => parseEdits(diff), diff).toThrow(reason);
});

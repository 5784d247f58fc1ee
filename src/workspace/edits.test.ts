import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseEdits } from './edit-blocks.js';
import { applyEdits } from './edits.js';
import { MAX_LINES } from './line-index.js';

function block(search: string[], replace: string[]): string {
  return ['------- SEARCH', ...search, '=======', ...replace, '+++++++ REPLACE', ''].join('\n');
}

async function edit(text: string, ...blocks: [string[], string[]][]): Promise<string> {
  const diff = blocks.map(([search, replace]) => block(search, replace)).join('');
  return (await applyEdits(text, parseEdits(diff), 'f')).text;
}

async function refusal(text: string, diff: string): Promise<string> {
  try {
    await applyEdits(text, parseEdits(diff), 'f');
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

test('lines outside the change, and context inside it, keep their bytes; new lines are literal', async () => {
  await fc.assert(
    fc.asyncProperty(
      fileLines,
      cuts,
      fc.boolean(),
      fc.constantFrom('mixed', '\n', '\r\n'),
      async (drawn, list, noEnd, style) => {
        const lines = drawn.map((line) => (style === 'mixed' ? line : { ...line, end: style }));
        if (noEnd) (lines.at(-1) as Line).end = '';
        const { diff, expected } = plan(lines, list);
        const text = lines.map((line) => line.text + line.end).join('');
        // Without any line feed a carriage return breaks lines: that is another test.
        if (diff === '' || (text.includes('\r') && !text.includes('\n'))) return;
        const after = linesOf((await applyEdits(text, parseEdits(diff), 'f')).text);
        expect(after.map((line) => line.text)).toEqual(
          expected.map((line) => (typeof line === 'string' ? line : line.text)),
        );
        const used = new Set(lines.map((line) => line.end));
        expected.forEach((line, i) => {
          if (typeof line !== 'string' && line.end !== '') expect(after[i]?.end, `line ${i}`).toBe(line.end);
          if (typeof line === 'string' && lines.length > 1) expect(used).toContain(after[i]?.end);
        });
      },
    ),
    { numRuns: 1500 },
  );
});

test('a CRLF file matches LF blocks and keeps its line endings', async () => {
  expect(
    await edit('a\r\nb\r\nc\r\nd\r\n', [
      ['b', 'c'],
      ['B', 'C', 'new'],
    ]),
  ).toBe('a\r\nB\r\nC\r\nnew\r\nd\r\n');
  expect(await edit('a\rb\rc\r', [['b'], ['x', 'y']])).toBe('a\rx\ry\rc\r');
  expect(
    await edit('a\r\nb\nc\r\n', [
      ['a', 'b', 'c'],
      ['a', 'B', 'c'],
    ]),
  ).toBe('a\r\nB\nc\r\n');
  expect((await applyEdits('a\nb\n', parseEdits(block(['b'], ['c']).replaceAll('\n', '\r\n')), 'f')).text).toBe(
    'a\nc\n',
  );
});

test('a last line without a break stays without one', async () => {
  expect(await edit('a\nb', [['b'], ['c']])).toBe('a\nc');
  expect(await edit('a\nb', [['b'], ['b', 'c']])).toBe('a\nb\nc');
  expect(await edit('a\r\nb', [['a', 'b'], ['b']])).toBe('b');
  expect(await edit('b', [['b'], ['x', 'b']])).toBe('x\nb');
});

test('exact lines are preferred to lines that only end the same, those to trimmed ones', async () => {
  expect(await edit('ab = 1\nb = 1\n', [['b = 1'], ['c']])).toBe('ab = 1\nc\n');
  expect(await edit('  foo\n  bar\n', [['foo'], ['baz']])).toBe('  baz\n  bar\n');
  expect(await edit('  foo\n', [['foo'], []])).toBe('');
  const loose = await applyEdits(
    '  if (x) {\n\ty();  \n  }\n',
    parseEdits(block(['if (x) {', 'y();', '}'], ['z'])),
    'f',
  );
  expect(loose).toEqual({ text: 'z\n', loose: [{ number: 1, ignored: 'space' }] });
});

test('lines in the middle that do not match are never replaced', async () => {
  const message = await refusal(
    'start\nkept 1\nkept 2\nend\n',
    block(['start', 'other', 'kept 2', 'end'], ['start', 'end']),
  );
  expect(message).toContain('Nothing was changed');
  expect(message).toContain('SEARCH line 2 is "other", but line 2 of the file is "kept 1"');
});

test('repeated text: each block takes the first match after the one before', async () => {
  expect(await edit('x\na\nx\na\nx\n', [['x'], ['1']], [['x'], ['2']])).toBe('1\na\n2\na\nx\n');
  expect(await edit('a\nb\nc\n', [['c'], ['C']], [['a'], ['A']])).toBe('A\nb\nC\n');
});

test('overlapping blocks are an error', async () => {
  const twice = block(['b'], ['c']) + block(['b'], ['d']);
  expect(await refusal('a\nb\n', twice)).toContain('already replaces');
  expect(await refusal('a\nb\nc\n', block(['a', 'b'], ['x']) + block(['b', 'c'], ['y']))).toContain('already replaces');
});

test('an empty SEARCH is only for an empty file', async () => {
  expect(await edit('', [[], ['one', 'two']])).toBe('one\ntwo\n');
  expect(await refusal('a\n', block([], ['x']))).toContain('empty SEARCH');
  expect(await refusal('', block(['a'], ['x']))).toContain('new or empty');
});

test('a miss shows the nearest text with its line number and claims nothing else', async () => {
  const file = `${Array.from({ length: 50 }, (_, i) => `const value${i} = ${i};`).join('\n')}\nfoo(\n\n\n  bar)\n`;
  const message = await refusal(file, block(['foo(', '', '  bar)'], ['x']));
  expect(message).toContain('51 | foo(\n52 | \n53 | \n54 |   bar)');
  expect(message).toContain('line 53 of the file is ""');
  expect(message).not.toMatch(/revert/i);
  expect(await refusal('alpha beta gamma\nzzz\n', block(['alpha beta delta'], ['x']))).toContain(
    '1 | alpha beta gamma',
  );
  expect(await refusal('zzz\n', block(['entirely different'], ['x']))).toContain('No line of the file resembles');
});

test('other spellings of the markers', async () => {
  const legacy = 'Here it is:\n```diff\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n';
  const short = '--- SEARCH>\na\n===\nb\n+++ REPLACE>\n';
  const open = '------- SEARCH\na\n=======\nb';
  for (const diff of [legacy, short, open, `${open}\n+++++++ REPL`]) {
    expect((await applyEdits('a\n', parseEdits(diff), 'f')).text, diff).toBe('b\n');
  }
});

test('text that looks like markers', async () => {
  const conflict = '<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\nz\n';
  const lines = conflict.split('\n').slice(0, 5);
  expect(await edit(conflict, [lines, ['merged']])).toBe('merged\nz\n');
  expect(
    await edit('Title\n=======\nx\n', [
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
  expect((await applyEdits('------- SEARCH\n', parseEdits(long.join('\n')), 'f')).text).toBe(
    '+++++++ REPLACE\n=======\n',
  );
});

test('diffs that cannot be read', async () => {
  const cases: [string, RegExp][] = [
    ['just text', /no SEARCH\/REPLACE block/],
    ['------- SEARCH\na\n+++++++ REPLACE\n', /no ======= line/],
    ['------- SEARCH\na\n=======\nb\n------- SEARCH\nc\n=======\nd\n+++++++ REPLACE\n', /block 1 is not closed/],
    ['a\n+++++++ REPLACE\n', /line 2 of the diff closes a block/],
  ];
  for (const [diff, reason] of cases) expect(() => parseEdits(diff), diff).toThrow(reason);
});

test('repetitive files and blocks are searched in linear time', async () => {
  const many = 'a\n'.repeat(200_000);
  const lines = Array.from({ length: 100_000 }, () => 'a');
  expect(await refusal(many, block([...lines, 'b'], ['x']))).toContain('does not match');
  expect(await refusal('xa\n'.repeat(200_000), block(lines, ['x']))).toContain('does not match');
  expect(await edit(`${many}b\n`, [[...lines, 'b'], ['c']])).toBe(`${'a\n'.repeat(100_000)}c\n`);
  expect(await edit(` ${many}`, [[...lines, 'a'], ['c']])).toBe(` a\nc\n${'a\n'.repeat(99_998)}`);
  expect(await refusal('\n'.repeat(MAX_LINES + 1), block(['b'], ['x']))).toContain('more than 3,000,000 lines');
});

test('a block with very many dividers is refused, and one with some is read', async () => {
  const divider = (count: number) => Array.from({ length: count }, () => '=======');
  expect(await refusal('a\n', block(divider(100_000), ['x']))).toContain('longer markers');
  expect(await edit('=======\nz\n', [['======='], ['y']])).toBe('y\nz\n');
});

test('forms of the same character match, and what the block repeats keeps the form it has in the file', async () => {
  const file = 'say \u201chi\u201d \u2013 caf\u00e9\u00a0x\nkeep \u2018it\u2019\nlast\n';
  const search = ['say "hi" - cafe\u0301 x', "keep 'it'", 'last'];
  const applied = await applyEdits(
    file,
    parseEdits(block(search, [search[0] ?? '', 'new \u201cline\u201d', search[1] ?? '', 'end'])),
    'f',
  );
  expect(applied.text).toBe(file.replace('keep', 'new \u201cline\u201d\nkeep').replace('last', 'end'));
  expect(applied.loose).toEqual([{ number: 1, ignored: 'forms' }]);
  expect(await edit('e\u0301\n\u00e9\n', [['\u00e9'], ['x']])).toBe('e\u0301\nx\n');
  expect(await refusal('say hi\n', block(['say ho'], ['x']))).toContain('does not match');
});

test('what a loose match repeats keeps its white space and line breaks, also in the middle', async () => {
  const file = 'if (a) {\r\n\tone();  \n    two();\r\n}\n';
  expect(
    await edit(file, [
      ['if (a) {', 'one();', 'two();', '}'],
      ['if (b) {', 'one();', 'more();', 'two();', '}'],
    ]),
  ).toBe('if (b) {\r\n\tone();  \nmore();\n    two();\r\n}\n');
  expect(
    await edit('  a\n  b\n', [
      ['a', '  b'],
      ['new', 'a', '  b'],
    ]),
  ).toBe('  new\n  a\n  b\n');
});

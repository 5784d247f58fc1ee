import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { painter } from './io.js';
import { Markdown } from './markdown.js';
import { displayWidth } from './text.js';

const ESC = '\u001b';
const COLOURS = new RegExp(`${ESC}\\[(\\d+)m`, 'g');
const TAGS: Record<string, string> = { 0: '</>', 1: '<b>', 2: '<dim>', 3: '<i>', 4: '<u>', 36: '<code>' };
/** Colours as tags, so that a test reads as what is seen. */
const tagged = (text: string) => text.replace(COLOURS, (_all, code: string) => TAGS[code] ?? '?');
const plain = (text: string) => text.replace(COLOURS, '');
/** What a terminal shows, however the colours are written. */
function seen(text: string): string[] {
  let style = '';
  return (tagged(text).match(/<[^>]*>|./gsu) ?? []).flatMap((part) => {
    if (!/^<.+>$/.test(part)) return [`${part}${style}`];
    style = part === '</>' ? '' : style + part;
    return [];
  });
}

function render(text: string, width = 60, pieces: string[] = [text]): string {
  const markdown = new Markdown(painter(true), () => width);
  return pieces.map((piece) => markdown.push(piece)).join('') + markdown.end();
}

describe('blocks', () => {
  it.each<[string, string]>([
    ['# Title', '<b><u>Title</></>\n'],
    ['### A `b` c', '<b>A</> <b><code>b</></> <b>c</>\n'],
    ['#hashtag', '#hashtag\n'],
    ['- one\n- two', '• one\n• two\n'],
    ['  * nested', '  • nested\n'],
    ['1. one\n10) ten', '1. one\n10) ten\n'],
    ['- [ ] open\n- [x] done', '• [ ] open\n• [x] done\n'],
    ['> quoted\n> > twice', '<dim>│ </>quoted\n<dim>│ </><dim>│ </>twice\n'],
    ['---', `<dim>${'─'.repeat(60)}</>\n`],
    ['a\n\nb', 'a\n\nb\n'],
    ['-not a list', '-not a list\n'],
    ['-1 is below 0', '-1 is below 0\n'],
    ['2026 was good', '2026 was good\n'],
    ['1.5 litres', '1.5 litres\n'],
  ])('%j', (source, shown) => {
    expect(tagged(render(source))).toBe(shown);
  });

  it('keep code as it is, indented, with its language', () => {
    const code = 'const a = `**x**`;\n\n\tif (a_b * c_d) { return "[x](y)"; } // # - > |\n    ~~~';
    expect(tagged(render(`\`\`\`ts\n${code}\n\`\`\`\nafter **it**`))).toBe(
      `<dim>  ts</>\n${code.replace(/^(?=.)/gm, '  ')}\nafter <b>it</>\n`,
    );
    expect(render('~~~\n```\n*a*\n~~~\n*b*')).toBe(`  \`\`\`\n  *a*\n${ESC}[3mb${ESC}[0m\n`);
    expect(render('````\n```\n````\nx')).toBe('  ```\nx\n');
  });

  it('keep code in lists and quotes, and code that never ends', () => {
    expect(plain(render('- do:\n  ```\n  a\n    b\n  ```\n- next'))).toBe('• do:\n    a\n      b\n• next\n');
    expect(plain(render('> ```\n> *a*\n> ```\n> *b*'))).toBe('│   *a*\n│ b\n');
    expect(plain(render('> ```\n> a\nout *b*'))).toBe('│   a\nout b\n');
    expect(render('```\n*a*\n**b')).toBe('  *a*\n  **b\n');
    expect(render('text\n\n    *a* = b_c_d\n')).toBe('text\n\n      *a* = b_c_d\n');
  });

  it('a line of code longer than the screen is one line', () => {
    const long = 'x '.repeat(100).trim();
    expect(render(`\`\`\`\n${long}\n\`\`\``, 40)).toBe(`  ${long}\n`);
  });
});

describe('inline marks', () => {
  it.each<[string, string]>([
    ['a **b c** d', 'a <b>b</> <b>c</> d'],
    ['*it* and ***both***', '<i>it</> and <b><i>both</></>'],
    ['**a *b* c**', '<b>a</> <b><i>b</></> <b>c</>'],
    ['**`x`:** y', '<b><code>x</></><b>:</> y'],
    ['这是**重点**内容', '这是<b>重</><b>点</>内容'],
    ['`a  *b*`', '<code>a  *b*</>'],
    ['`` a`b ``', '<code>a`b</>'],
    ['[docs](https://a.b/c_(d)) now', '<u>docs</> <dim>(https://a.b/c_(d))</> now'],
    ['[https://a.b](https://a.b)', '<u>https://a.b</>'],
    ['<https://a.b/c>', '<u>https://a.b/c</>'],
    ['![shot](a.png)', 'image: <u>shot</> <dim>(a.png)</>'],
    ['\\*not\\* \\`this\\`', '*not* `this`'],
  ])('%j', (source, shown) => {
    expect(tagged(render(source))).toBe(`${shown}\n`);
  });

  it.each([
    '2*3*4 and a * b * c',
    'src/*.ts and test/*.ts',
    '**/*.ts',
    'snake_case_name, __init__, _private_',
    'f(**kwargs) and *args',
    'an unclosed **mark and `tick',
    'array[0](x) is a call? a[i][j]',
    'a < b && c > d, List<string>',
    'C:\\temp\\new',
    'char *p, **q;',
    'Done!',
    '[x]',
    '~/src and ~~old~~',
    '5 * 3 = 15*',
  ])('%j stays as it is', (source) => {
    expect(render(source)).toBe(`${source}\n`);
  });
});

describe('tables', () => {
  const table = '| Name | Size |\n|:-----|-----:|\n| `a|b` | 10 |\n| 日本 | **2** |\n';

  it('line up by width and align', () => {
    expect(tagged(render(`Before\n\n${table}\nafter`))).toBe(
      'Before\n\n<b>Name</>  <b>Size</>\n<dim>──────────</>\n<code>a|b</>     10\n日本     <b>2</>\n\nafter\n',
    );
  });

  it('wrap the cells that are too wide', () => {
    const wide = `| key | meaning |\n|---|---|\n| a | ${'some words '.repeat(8)} |\n| b | short |\n`;
    const lines = plain(render(wide, 40)).split('\n');
    expect(lines.every((line) => displayWidth(line) <= 40)).toBe(true);
    expect(lines.slice(0, 4)).toEqual([
      'key  meaning',
      '─'.repeat(40),
      'a    some words some words some words',
      '     some words some words some words',
    ]);
  });

  it('become lists where no column has room', () => {
    const head = `|${' column |'.repeat(6)}`;
    const wide = `${head}\n|${'---|'.repeat(6)}\n|${' a-long-value |'.repeat(6)}\n|${' x |'.repeat(6)}`;
    expect(plain(render(wide, 30)).split('\n').slice(5, 9)).toEqual([
      'column: a-long-value',
      '·',
      'column: x',
      'column: x',
    ]);
  });

  it('are only tables when they say so', () => {
    expect(render('| a pipe\nmore')).toBe('| a pipe\nmore\n');
    expect(render('| a | b |\nmore')).toBe('| a | b |\nmore\n');
  });
});

describe('while it streams', () => {
  const SAMPLE = [
    '# Heading with `code`',
    '',
    'A paragraph with **bold words**, *italic*, `inline code` and [a link](https://example.test/x).',
    '- item **one**',
    '  continued',
    '  1. nested',
    '> quote 日本語 🦊👨‍👩‍👧',
    '',
    '| a | b |',
    '|---|---|',
    '| 1 | `2` |',
    '',
    '```js',
    'let x = 1; // **no**',
    '```',
    '***',
    'The end: 2 * 3 **open',
  ].join('\n');

  it('gives the same, however it is cut', () => {
    const whole = seen(render(SAMPLE));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (sizes) => {
        const pieces: string[] = [];
        for (let at = 0, i = 0; at < SAMPLE.length; i++) {
          const end = at + (sizes[i % sizes.length] ?? 1);
          pieces.push(SAMPLE.slice(at, end));
          at = end;
        }
        expect(seen(render(SAMPLE, 60, pieces))).toEqual(whole);
      }),
    );
  });

  it('gives the same for texts made of marks', () => {
    const mark = fc.constantFrom(
      '*',
      '**',
      '`',
      '```',
      '\n',
      ' ',
      'a',
      '[',
      '](u)',
      '# ',
      '- ',
      '> ',
      '|',
      '1. ',
      '\\',
      '~~~',
      '    ',
    );
    fc.assert(
      fc.property(fc.array(mark, { maxLength: 25 }), (marks) => {
        const text = marks.join('');
        expect(seen(render(text, 30, [...text]))).toEqual(seen(render(text, 30)));
      }),
      { numRuns: 300, examples: [[['a', '[', '[', '](u)']]] },
    );
  });

  it('shows words as they come, and holds back only what is open', () => {
    const markdown = new Markdown(painter(true), () => 60);
    expect(markdown.push('I will look ')).toBe('I will look');
    expect(markdown.push('at **the ')).toBe(' at');
    expect(tagged(markdown.push('file** and'))).toBe(' <b>the</> <b>file</>');
    expect(markdown.push(' more')).toBe(' and');
    expect(markdown.end()).toBe(' more\n');
  });

  it('no line is wider than the screen, and no word is lost', () => {
    const word = fc.oneof(
      fc.stringMatching(/^[a-z]{1,12}$/),
      fc.constantFrom('日本語', '🦊', '한국어', 'café', '👨‍👩‍👧'),
    );
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 60 }), fc.integer({ min: 20, max: 60 }), (words, width) => {
        const text = `- ${words.join(' ')}`;
        const lines = render(text, width).trimEnd().split('\n');
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
        expect(lines.join('').replace(/\s/g, '')).toBe(`•${words.join('')}`);
      }),
    );
  });

  it('takes a hostile text in good time', () => {
    for (const text of [
      '*a'.repeat(50_000),
      `x${'`'.repeat(50_001)}`,
      '['.repeat(50_000),
      '**`'.repeat(30_000),
      '> '.repeat(50_000),
    ]) {
      expect(plain(render(text)).length).toBeGreaterThan(0);
    }
  });
});

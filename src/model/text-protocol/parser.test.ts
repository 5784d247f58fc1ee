import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnswerBlock } from '../../domain/blocks.js';
import type { ReaderOutput } from '../answer-reader.js';
import { grammarOf, writeCall } from './grammar.js';
import { TextProtocolParser } from './parser.js';

const properties = (...names: string[]) => ({ properties: Object.fromEntries(names.map((name) => [name, {}])) });

const grammar = grammarOf([
  { name: 'read_file', input_schema: properties('path', 'start_line', 'task_progress') },
  { name: 'search_files', input_schema: properties('path', 'regex') },
  {
    name: 'write_to_file',
    input_schema: properties('path', 'content', 'task_progress'),
    aliases: { absolutePath: 'path' },
  },
  { name: 'execute_command', input_schema: properties('command', 'requires_approval') },
  { name: 'attempt_completion', input_schema: properties('result', 'command') },
]);

function parse(pieces: readonly string[], whole = true): ReaderOutput[] {
  let count = 0;
  const parser = new TextProtocolParser(grammar, () => count++);
  return [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end(whole)];
}

const blocksOf = (outputs: readonly ReaderOutput[]): AnswerBlock[] =>
  outputs.flatMap((one) => (one.kind === 'block' ? [one.content] : []));

const read = (source: string, whole = true) => blocksOf(parse([source], whole));
const callsIn = (source: string, whole = true) => read(source, whole).filter((block) => block.type === 'tool_use');
const inputs = (source: string) => callsIn(source).map(({ name, input, problem }) => [name, problem ? null : input]);

const piecesOf = (text: string, size: number) =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));

const TAGS = [...grammar].flatMap(([name, { parameters }]) =>
  [name, ...parameters.keys()].flatMap((one) => [`<${one}>`, `</${one}>`]),
);
const word = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('a', '\n', ' ', '\r\n', '😀', '<', '</', '```xml\n', ']]>', '<![CDATA[', '<div>', '<read'),
);
const tag = fc.constantFrom(...TAGS);
const write = (content: string) => writeCall(grammar, 'write_to_file', { path: 'a', content });
/** Any text, rich in tags. */
const soup = fc
  .array(
    fc.oneof(
      { weight: 2, arbitrary: tag },
      word,
      fc.constantFrom(write('x\n'), '<read_file>\n<path>', '</content>\n</write_to_file>'),
    ),
    {
      maxLength: 30,
    },
  )
  .map((parts) => parts.join(''));

/** What ends the value by the rules, although the model may not have meant it. */
const END = /<\/content>\s*<\/write_to_file>/;
/** The same with a parameter that is not given yet; `path` is, and so are its other names. */
const NEXT = /<\/content>\s*<task_progress>/;
const TOOLS = [...grammar.keys()].join('|');
const BEGINNING = new RegExp(
  [...grammar]
    .map(([name, { parameters }]) => `<${name}>\\s*(?:</${name}>|<(?:${[...parameters.keys()].join('|')})>)`)
    .join('|'),
);

describe('TextProtocolParser', () => {
  it('gives the same blocks however the answer was cut, and loses nothing of it', () => {
    fc.assert(
      fc.property(soup, fc.array(fc.nat(300)), fc.boolean(), (source, cuts, whole) => {
        const blocks = read(source, whole);
        const at = [...new Set(cuts.map((cut) => cut % (source.length + 1)))].sort((a, b) => a - b);
        const pieces = [0, ...at].map((from, i) => source.slice(from, [...at, source.length][i]));
        const ways = [pieces, ...[1, 2, 3, 7, 16].map((size) => piecesOf(source, size))];
        for (const way of ways) expect(blocksOf(parse(way, whole))).toEqual(blocks);
        const joined = blocks.map((block) =>
          block.type === 'text' ? block.text : block.type === 'tool_use' ? block.raw : '',
        );
        expect(source.startsWith(joined.join(''))).toBe(true);
        expect(source.slice(joined.join('').length).trim()).toBe('');
      }),
      { numRuns: 500 },
    );
  });

  it('shows each text in pieces that join to it, between its beginning and its end', () => {
    fc.assert(
      fc.property(soup, fc.integer({ min: 1, max: 20 }), (source, size) => {
        let open: number | undefined;
        let joined = '';
        let count = 0;
        for (const one of parse(piecesOf(source, size))) {
          if (one.kind === 'begin') {
            expect(open).toBeUndefined();
            expect(one.block).toBe(count++);
            open = one.block;
            joined = '';
          } else if (one.kind === 'delta') {
            expect([one.block, one.offset]).toEqual([open, joined.length]);
            joined += one.text;
          } else if (one.kind === 'block') {
            expect(one.block).toBe(open);
            if (one.content.type === 'text') expect(one.content.text).toBe(joined);
            open = undefined;
          }
        }
        expect(open).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  it('gives back every value that holds no beginning of a call, other calls around it or not', () => {
    const value = soup.map((text) => text.replace(new RegExp(`<(${TOOLS})>`, 'g'), '<$1 >'));
    fc.assert(
      fc.property(value, value, fc.boolean(), (content, text, more) => {
        const rest = [END, NEXT].some((one) => one.test(content) || one.test(text)) ? '' : text;
        const source = `${write(content)}${more ? `${rest}${writeCall(grammar, 'read_file', { path: 'b' })}` : ''}`;
        fc.pre(!(more && END.test(content)) && !NEXT.test(content));
        const expected = [['write_to_file', { path: 'a', content }]];
        expect(inputs(source)).toEqual(more ? [...expected, ['read_file', { path: 'b' }]] : expected);
      }),
      { numRuns: 500 },
    );
  });

  it('gives back values that hold whole calls, and calls that hold such values', () => {
    const { value } = fc.letrec<{ value: string; part: string }>((tie) => ({
      value: fc.array(tie('part'), { maxLength: 5 }).map((parts) => parts.join('')),
      part: fc.oneof(
        { depthSize: 'small' },
        word,
        fc.constantFrom('</content>x', '</path>', '```\n', 'x</write_to_file>\n', '<content>', '<read_file> is a tool'),
        tie('value').map(write),
        tie('value').map((command) => writeCall(grammar, 'execute_command', { command })),
        tie('value').map((regex) => writeCall(grammar, 'search_files', { path: '.', regex })),
      ),
    }));
    fc.assert(
      fc.property(value, (content) => {
        const after = writeCall(grammar, 'read_file', { path: 'b' });
        expect(inputs(`Now:\n\n${write(content)}\n\n${after}`)).toEqual([
          ['write_to_file', { path: 'a', content }],
          ['read_file', { path: 'b' }],
        ]);
      }),
      { numRuns: 500 },
    );
  });

  it('takes a value for another one only where its end is followed by the beginning of a call', () => {
    fc.assert(
      fc.property(soup, (content) => {
        const [first] = callsIn(write(content));
        if (first?.problem || first?.input.content === content) return;
        const at = END.exec(content)?.index ?? content.length;
        expect(content.slice(at)).toMatch(BEGINNING);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    [
      'exact values keep all but the first line break',
      '<write_to_file><path>\n a \n</path><content>\n\n x \n\n</content></write_to_file>',
      { path: 'a', content: '\n x \n\n' },
    ],
    [
      'CRLF stays',
      '<write_to_file><path>a</path><content>\r\na\r\n</content>\r\n</write_to_file>',
      { path: 'a', content: 'a\r\n' },
    ],
    [
      'other values are trimmed',
      '<execute_command><command>\n ls -l\n</command></execute_command>',
      { command: 'ls -l' },
    ],
    [
      'a simple value ends with its first closing tag',
      '<read_file><path>a</path>, b</path></read_file>',
      { path: 'a' },
    ],
    ['what is no parameter is dropped', '<read_file>so: <path>a</path> <mode>x</mode> and</read_file>', { path: 'a' }],
    ['a parameter given again counts', '<read_file><path>a</path><path>b</path></read_file>', { path: 'b' }],
    [
      'a regular expression may hold tags',
      '<search_files><path>.</path><regex></regex>|<path></regex></search_files>',
      { path: '.', regex: '</regex>|<path>' },
    ],
    [
      'no tag of another tool is a parameter',
      '<read_file><path>a</path><content>x</content></read_file>',
      { path: 'a' },
    ],
    [
      'other names are known',
      '<write_to_file><absolutePath>a</absolutePath><content>x</content></write_to_file>',
      { absolutePath: 'a', content: 'x' },
    ],
    ['inside a code fence', '```xml\n<read_file>\n<path>a</path>\n</read_file>\n```', { path: 'a' }],
    ['without parameters', '<read_file>\n</read_file>', {}],
    [
      'a value goes on when it ends again, with what seemed to follow it',
      '<write_to_file><path>a</path><content>x</content><task_progress>y</task_progress></write_to_file> z</content></write_to_file>',
      { path: 'a', content: 'x</content><task_progress>y</task_progress></write_to_file> z' },
    ],
  ])('%s', (_name, source, input) => {
    const calls = callsIn(source);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({ input });
    expect(calls[0]).not.toHaveProperty('problem');
  });

  it('keeps as text what is no call', () => {
    for (const source of [
      'a < b',
      'see <Read_file> and <read_file >',
      '</read_file>',
      'the <path> of it',
      'x <read_fi',
      '<read_file> reads a file.',
    ]) {
      expect(read(source)).toEqual([{ type: 'text', text: source }]);
    }
    expect(read(' \n ')).toEqual([]);
    expect(read('I use <write_to_file> after <read_file><path>a</path></read_file>')).toMatchObject([
      { type: 'text', text: 'I use <write_to_file> after ' },
      { name: 'read_file', input: { path: 'a' } },
    ]);
  });

  it('gives a simple call at once, and one that may go on when the next has begun', () => {
    const simple = '<read_file><path>a</path></read_file>';
    expect(blocksOf(parse([simple]).slice(0, 2))).toMatchObject([{ name: 'read_file' }]);
    let count = 0;
    const parser = new TextProtocolParser(grammar, () => count++);
    expect(blocksOf(parser.push(`${write('x')}\n\nThen I read:\n<read_file>`))).toEqual([]);
    expect(blocksOf(parser.push('\n<path>'))).toMatchObject([
      { name: 'write_to_file', block: 0 },
      { type: 'text', text: '\n\nThen I read:\n' },
    ]);
  });

  it('never gives a call that was cut, or is not clear, as one that can run', () => {
    const source = `${write('x\n')}\n`;
    for (let end = '<write_to_file>\n'.length; end < source.length; end++) {
      expect(callsIn(source.slice(0, end), false)).toMatchObject([
        { name: 'write_to_file', input: {}, problem: { kind: 'truncated' }, raw: source.slice(0, end) },
      ]);
    }
    const openings = '<write_to_file>\n<path>b</path>';
    for (const unclear of [
      '<write_to_file><path>a</path><content>x',
      '<write_to_file><path>a</path>',
      '<read_file><path>a',
      `${write(`${write('')} ${openings}`)}`,
      `${write(openings)}\n${write('y')}`,
      '<execute_command><command>ls</command><cwd>/</cwd></execute_command>',
    ]) {
      expect(callsIn(unclear)).toMatchObject([{ input: {}, problem: { kind: 'bad_arguments' } }]);
    }
    expect(callsIn('<read_file><path>a</path>\n<read_file><path>b</path></read_file>')).toMatchObject([
      { problem: { kind: 'bad_arguments' } },
      { input: { path: 'b' } },
    ]);
    expect(inputs(write(`about ${openings}`))).toEqual([
      ['write_to_file', { path: 'a', content: `about ${openings}` }],
    ]);
  });
});

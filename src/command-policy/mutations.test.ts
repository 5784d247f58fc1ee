// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts for a shell
import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import fc from 'fast-check';
import type { Command } from 'unbash';
import { afterAll, expect, it } from 'vitest';
import { Canary } from '../../test/support/canary.js';
import { PAYLOADS, PLAIN, WRAPPED } from '../../test/support/canary-lines.js';
import { parseCommandLine } from './grammar.js';
import { type Argument, argumentsOf } from './words.js';

const canary = new Canary();
afterAll(() => canary[Symbol.dispose]());

const seed = Number(process.env.LONGHAUL_TEST_SEED ?? 1);
const rounds = (least: number) => least * Number(process.env.LONGHAUL_TEST_ROUNDS ?? 1);

/** Runs a line only if it may run unasked; then it must change nothing. */
async function harmlessOrAsked(line: string): Promise<void> {
  if ((await canary.judge(line)).verdict !== 'unasked') return;
  expect([line, canary.run(line).changed]).toEqual([line, []]);
}

/** Pieces of shell syntax that mean something to each other. */
const PIECES = [
  ...[
    'ls',
    'echo',
    'cat',
    'README.md',
    'rm',
    'canary.txt',
    './canary',
    'touch made',
    'bash -c',
    'eval',
    'test',
    '-f',
    'cd src',
    'x=1',
    '$x',
    '${x:-',
    '}',
    '$HOME',
  ],
  ...[
    '$(',
    ')',
    '`',
    '(',
    '{',
    '<(',
    '>(',
    '$((',
    '))',
    '[[',
    ']]',
    '((',
    "'",
    '"',
    "$'",
    '$"',
    '\\',
    '\\\n',
    '\n',
    ' ',
    ' ',
    ' ',
    '\t',
    ';',
    '&',
    '|',
    '&&',
    '||',
    '|&',
    ';;',
    '!',
  ],
  ...[
    '<',
    '>',
    '>>',
    '<<EOF\n',
    '\nEOF\n',
    "<<'EOF'\n",
    '<<-EOF\n',
    '<<<',
    '2>&1',
    '>/dev/null',
    '&>',
    '#',
    ' # ',
    '*',
    '?',
    '[a]',
    '{a,b}',
    '~',
    '=',
    '+=',
    '-',
    '--',
    'a',
    '1',
    '%',
    '^',
    '@',
    '\\\\',
    "\\'",
    '\\"',
    '\\`',
    '\\$',
  ],
  ...[
    'if',
    'then',
    'fi',
    'for x in',
    'do',
    'done',
    'while',
    'case x in',
    'esac',
    'function f',
    'f()',
    'coproc',
    'time',
    'select',
    'until',
    'else',
  ],
];

it('whatever syntax is put together, what runs unasked changes nothing', async () => {
  const lines = fc.array(fc.constantFrom(...PIECES), { minLength: 2, maxLength: 14 }).map((all) => all.join(''));
  await fc.assert(fc.asyncProperty(lines, harmlessOrAsked), { numRuns: rounds(4_000), seed });
});

it('a payload in the middle of what is harmless is asked about, however both are put together', async () => {
  const plain = fc.constantFrom(...PLAIN.filter((line) => !/[#<\n\\&]|git/.test(line)));
  const glue = fc.constantFrom(
    ';',
    ' ; ',
    '&&',
    ' && ',
    '||',
    '|',
    ' | ',
    '|&',
    '&',
    '\n',
    ' \\\n;',
    ';\n',
    '\n\n',
    '; #x\n',
  );
  const wrapped = fc
    .tuple(fc.constantFrom(...WRAPPED), fc.constantFrom(...PAYLOADS))
    .map(([wrap, payload]) => wrap(payload));
  await fc.assert(
    fc.asyncProperty(plain, glue, wrapped, glue, plain, async (before, first, payload, second, after) => {
      const isDocument = payload.includes('<<');
      const line = before + first + payload + (isDocument ? '\n' : second) + after;
      expect([line, (await canary.judge(line)).verdict]).toEqual([line, 'ask']);
    }),
    { numRuns: rounds(400), seed },
  );
});

it('quoting does not hide a name', async () => {
  const quote = (word: string) =>
    fc
      .tuple(
        ...[...word].map((char) =>
          fc.constantFrom(
            char,
            `\\${char}`,
            `'${char}'`,
            `"${char}"`,
            `$'${char}'`,
            `$'\\x${char.charCodeAt(0).toString(16)}'`,
            `""${char}`,
            `\\\n${char}`,
          ),
        ),
      )
      .map((chars) => chars.join(''));
  const line = fc.tuple(
    fc.constantFrom('', 'ls; ', 'timeout 5 ', 'env ', 'ls | xargs '),
    fc.constantFrom('rm', 'touch').chain(quote),
  );
  await fc.assert(
    fc.asyncProperty(line, async ([before, name]) => {
      const judged = await canary.judge(`${before}${name} canary.txt`, [{ deny: ['rm *', 'touch *'] }]);
      expect([name, judged.verdict]).toEqual([name, 'denied']);
    }),
    { numRuns: rounds(400), seed },
  );
});

it('words are known as bash knows them', async () => {
  const piece = fc.constantFrom(
    ...[
      'a',
      'b-c',
      'ü',
      '1',
      '=',
      ',',
      '..',
      '{',
      '}',
      '{a,b}',
      '{a..c}',
      '~',
      '/',
      "'a b'",
      "'",
      '"x y"',
      '"',
      "$'\\t'",
      "$'\\x41'",
      "$'\\u00e9'",
      "$'\\''",
      '\\ ',
      '\\\n',
      "\\'",
      '\\"',
      '\\\\',
      '"\\a"',
      '"\\$x"',
      '"\\\\"',
      '*',
      '[',
      ']',
      '!',
      '#',
      '%',
      '@',
      '^',
      '+',
      ':',
      "''",
      '""',
      '\\*',
      '\\~',
      '\\{',
      '?',
    ],
  );
  const words = fc.array(piece, { minLength: 1, maxLength: 6 }).map((all) => all.join(''));
  await fc.assert(
    fc.asyncProperty(fc.array(words, { minLength: 20, maxLength: 20 }), async (list) => {
      const known = (await Promise.all(list.map(valuesOf))).filter((one) => one !== undefined);
      const script = known.map(({ word }) => `printf '%s\\0' x ${word}; printf '\\1'`).join('\n');
      const { stdout } = spawnSync('bash', ['-c', `set -f\n${script}`], {
        cwd: canary.workspace,
        env: { ...canary.env, HOME: homedir() },
        encoding: 'utf8',
      });
      const seen = stdout
        .split('\x01')
        .slice(0, -1)
        .map((one) => one.split('\0').slice(1, -1));
      expect(seen).toEqual(known.map(({ values }) => values));
    }),
    { numRuns: rounds(60), seed },
  );
});

/** Of a word whose arguments are all known. */
async function valuesOf(word: string): Promise<{ word: string; values: string[] } | undefined> {
  const parsed = await parseCommandLine(`printf x ${word}`);
  if ('problem' in parsed || parsed.script.commands.length !== 1) return undefined;
  const command = parsed.script.commands[0]?.command as Command;
  const [, own, ...more] = command.suffix;
  if (command.type !== 'Command' || own?.type !== 'Word' || more.length > 0 || own.text !== word) return undefined;
  const values = argumentsOf(own).map(({ value }: Argument) => value);
  const all = values.filter((one) => one !== undefined);
  return all.length === values.length ? { word, values: all } : undefined;
}

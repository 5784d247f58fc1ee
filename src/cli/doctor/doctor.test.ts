import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { painter } from '../io.js';
import { displayWidth } from '../text.js';
import { CHECKS, examine } from './doctor.js';
import { beginExamination } from './examination.js';
import { bad, type Check, ok, type Row, warn } from './row.js';
import { problemOf, rowLines } from './row-lines.js';

const env = {
  ANTHROPIC_API_KEY: 'key-0123456789',
  ANTHROPIC_AUTH_TOKEN: 'token-0123456789',
  ANTHROPIC_BASE_URL: 'https://user:base%2Dsecret@models.example/?k=query-secret',
  HTTPS_PROXY: 'http://me:proxy-secret@proxy.example:3128',
  TEMPORAL_API_KEY: 'temporal-0123456789',
};

const check = (name: string, look: Check['look']): Check => ({ name, look });
const rows = (checks: Check[], ms?: number) => examine(beginExamination({ home: '/nonexistent', env }), checks, ms);

it('a row that takes long or fails is a row of its own kind, and those beside it stand', async () => {
  const found = await rows(
    [
      check('slow', async () => sleep(60_000, ok('late'), { ref: false })),
      check('torn', async () => {
        throw new Error('no such thing');
      }),
      check('none', async () => undefined),
      check('good', async () => ok('fine')),
    ],
    50,
  );
  expect(found.map(({ name, state }) => [name, state])).toEqual([
    ['slow', 'warn'],
    ['torn', 'bad'],
    ['good', 'ok'],
  ]);
  expect(found[1]?.found).toContain('no such thing');
});

it('no row shows what is secret, wherever the text has it from', async () => {
  const text = [...Object.values(env), 'base-secret', 'at http://other:unknown@host.example:1/path'].join(' ');
  const [row] = await rows([check('all', async () => bad(text, text))]);
  expect(JSON.stringify(row)).not.toMatch(/key-0|token-0|temporal-0|secret|unknown|user|me:/);
  expect(row?.next).toContain('http://host.example:1/path');
});

it('every row has a name of its own', () => {
  const names = CHECKS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

const shown: Row[] = [
  { name: 'git', ...ok('2.40.0') },
  {
    name: 'a longer name',
    ...warn('old and in need of some words that do not fit', 'Do `longhaul up`, and then more.'),
  },
  { name: 'journal', ...bad('damaged\u001b[2J', 'Restore it.') },
];

it('is a table that fits the terminal, with what to do below what is not well', () => {
  const lines = rowLines(shown, { paint: painter(false), width: 50, command: 'node bin/lh.js' });
  expect(lines).toEqual([
    '✓ git            2.40.0',
    '! a longer name  old and in need of some words',
    '                 that do not fit',
    '                 → Do `node bin/lh.js up`, and',
    '                   then more.',
    '✗ journal        damaged␛[2J',
    '                 → Restore it.',
    '',
    '1 thing does not work, 1 thing deserves a look.',
  ]);
  for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(50);
  const narrow = rowLines(shown, { paint: painter(true), width: 20, command: 'longhaul' });
  expect(narrow.join('\n')).toContain('\u001b[32m✓');
});

it('says that all is well, and lists problems for programs', () => {
  expect(rowLines(shown.slice(0, 1), { paint: painter(false), width: 80, command: 'l' }).at(-1)).toBe('All is well.');
  expect(shown.flatMap(problemOf)).toEqual([
    'a longer name: old and in need of some words that do not fit. Do `longhaul up`, and then more.',
    'journal: damaged\u001b[2J. Restore it.',
  ]);
});

import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tempFolder } from '../../test/support/tools.js';
import { isIgnored, MAX_IGNORE_BYTES, MAX_IGNORE_RULES, parseIgnoreFile } from './ignore-rules.js';
import { listDirectory, MAX_ENTRIES } from './list.js';
import { Pace } from './pace.js';

const signal = new AbortController().signal;

async function tree(files: Record<string, string>): Promise<string> {
  const root = await tempFolder();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

async function paths(root: string, recursive: boolean): Promise<string[]> {
  const { entries } = await listDirectory(root, '.', recursive, signal);
  return entries.map((entry) => entry.path + (entry.directory ? '/' : ''));
}

test('one level: everything, directories first', async () => {
  const root = await tree({
    'b.ts': '',
    'a.ts': '',
    'z/x.ts': '',
    'node_modules/m.js': '',
    '.env': '',
    '.gitignore': 'a.ts',
  });
  expect(await paths(root, false)).toEqual(['node_modules/', 'z/', '.env', '.gitignore', 'a.ts', 'b.ts']);
});

test('recursive: a tree in order, without what is ignored', async () => {
  const root = await tree({
    'README.md': '',
    'src/z.ts': '',
    'src/lib/a.ts': '',
    'src/lib/a.log': '',
    'src/lib/keep.log': '',
    'src/lib/.gitignore': '!keep.log',
    'node_modules/m/index.js': '',
    '.git/HEAD': '',
    'build/dependencies/d.jar': '',
    'gen/x.ts': '',
    '.gitignore': '*.log\n/gen/\n',
  });
  expect(await paths(root, true)).toEqual([
    '.git/',
    'build/',
    'build/dependencies/',
    'node_modules/',
    'src/',
    'src/lib/',
    'src/lib/.gitignore',
    'src/lib/a.ts',
    'src/lib/keep.log',
    'src/z.ts',
    '.gitignore',
    'README.md',
  ]);
  const { entries } = await listDirectory(root, '.', true, signal);
  expect(entries.filter((entry) => entry.notEntered).map((entry) => entry.path)).toEqual([
    '.git',
    'build/dependencies',
    'node_modules',
  ]);
});

test('the limit cuts the deepest level and is told', async () => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`deep/er/f${i}`, '']));
  const root = await tree({ ...files, 'top.ts': '' });
  const listing = await listDirectory(root, '.', true, signal);
  expect(listing.entries).toHaveLength(MAX_ENTRIES);
  expect(listing.incomplete).toBe('limit');
  expect(listing.entries.at(-1)?.path).toBe('top.ts');
  expect((await listDirectory(join(root, 'deep'), 'deep', false, signal)).incomplete).toBeUndefined();
});

test('links are shown and not followed', async () => {
  const root = await tree({ 'real/a.ts': '' });
  await symlink('/etc', join(root, 'etc'));
  await symlink('..', join(root, 'real/up'));
  const { entries } = await listDirectory(root, '.', true, signal);
  expect(entries).toEqual([
    { path: 'real', directory: true },
    { path: 'real/a.ts', directory: false },
    { path: 'real/up', directory: false, link: '..' },
    { path: 'etc', directory: false, link: '/etc' },
  ]);
});

test('ignore files are read as git reads them', async () => {
  const root = await tree({});
  execFileSync('git', ['init', '-q'], { cwd: root });
  const name = fc.constantFrom('a', 'b', 'ab', 'a.log', 'x');
  const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  const glob = fc.constantFrom(
    'a',
    '*',
    '*.log',
    'a/',
    '/a',
    'a/b',
    '**/b',
    'a/**',
    'a/**/b',
    '?',
    '[ab]',
    '[!a]',
    '\\a',
    'a*b',
    '#a',
    '',
    'x ',
    'x\\ ',
    'a\\',
    '[a-b]',
    '[^a-b]*',
    '[]a]',
    '[a',
    '[[:alpha:]]',
    '[![:digit:]b]',
    '[[:nothing:]]',
    '[a/b]',
    '[\\a-x]?',
    '/**',
    '**',
    '***/b',
    'a/***',
    '**/a/**/b',
    'a/*/**',
    'a**',
    '*/*',
    'b/**/',
    'a\\/b',
    'ab ',
  );
  const rule = fc.tuple(fc.boolean(), glob).map(([negated, text]) => (negated ? `!${text}` : text));
  await fc.assert(
    fc.asyncProperty(fc.array(rule, { minLength: 1, maxLength: 3 }), path, async (rules, file) => {
      await writeFile(join(root, '.gitignore'), `${rules.join('\n')}\n`);
      const parsed = [parseIgnoreFile('', `${rules.join('\n')}\n`)];
      const parts = file.split('/');
      let ours = false;
      for (const i of parts.keys()) {
        const at = parts.slice(0, i + 1).join('/');
        ours ||= await isIgnored(parsed, at, i < parts.length - 1, new Pace());
      }
      expect(ours, JSON.stringify(rules)).toBe(ignoredByGit(root, file));
    }),
    { numRuns: 400 },
  );
});

test('hostile ignore files do not stop a listing', async () => {
  const name = 'a'.repeat(120);
  const lines = [
    `${'*a'.repeat(25)}b`,
    `${'**/'.repeat(500)}b`,
    `${'**/a/'.repeat(300)}b`,
    `${'[a-z]*'.repeat(100)}[!a]`,
    `*[${'b-c'.repeat(1000)}]`,
    '['.repeat(4000),
    `${' '.repeat(4000)}x`,
    `${'*'.repeat(200_000)}b`,
  ];
  const deep = Array.from({ length: 30 }, () => 'a').join('/');
  const root = await tree({
    '.gitignore': `*.log\n${lines.join('\n')}\n`,
    [name]: '',
    'x.log': '',
    [`${deep}/y.log`]: '',
  });
  const found = await paths(root, true);
  expect(found).toContain(name);
  expect(found).not.toContain('x.log');
  expect(found).toContain(`${deep}/`);
  expect(found).not.toContain(`${deep}/y.log`);
});

test('of an ignore file a bounded part is read', async () => {
  expect(parseIgnoreFile('', 'x\n'.repeat(100_000)).rules).toHaveLength(MAX_IGNORE_RULES);
  const filler = `${'#'.repeat(1023)}\n`.repeat(MAX_IGNORE_BYTES / 1024);
  const root = await tree({ '.gitignore': `*.log\n${filler}*.ts\n`, 'a.log': '', 'a.ts': '' });
  expect(await paths(root, true)).toEqual(['.gitignore', 'a.ts']);
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}`, '']));
  const crowded = await tree({ '.gitignore': `${'*a*b*c\n'.repeat(100_000)}f1\n`, ...many });
  expect(await paths(crowded, true)).toHaveLength(51);
});

test('of a huge directory the first entries are listed', async () => {
  const root = await tree(
    Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`f${String(i).padStart(4, '0')}`, ''])),
  );
  await mkdir(join(root, 'zzz'));
  await writeFile(join(root, `.longhaul-${'0'.repeat(32)}-1.0.tmp`), '');
  const listing = await listDirectory(root, '.', false, signal);
  expect(listing.incomplete).toBe('limit');
  expect(listing.entries.map((entry) => entry.path)).toEqual([
    'zzz',
    ...Array.from({ length: MAX_ENTRIES - 1 }, (_, i) => `f${String(i).padStart(4, '0')}`),
  ]);
});

function ignoredByGit(root: string, file: string): boolean {
  try {
    execFileSync('git', ['check-ignore', '-q', '--no-index', '--', file], { cwd: root, stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}

import { link, mkdir, readFile as read, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Bench, tempFolder, toolBench } from '../../test/support/tools.js';
import { Blocked } from '../workspace/blocked.js';
import { applyPatch } from './apply-patch.js';
import { listCodeDefinitionNames } from './list-code-definition-names.js';
import { listFiles } from './list-files.js';
import { readFile } from './read-file.js';
import { replaceInFile } from './replace-in-file.js';
import { searchFiles } from './search-files.js';
import type { Tool } from './tool.js';
import { writeToFile } from './write-to-file.js';

const CANARY = 'canary_91c2';

async function laid(rules: string): Promise<Bench> {
  const bench = await toolBench();
  const put = (name: string, text: string) => writeFile(join(bench.workspace, name), text);
  await mkdir(join(bench.workspace, 'private/deep'), { recursive: true });
  await mkdir(join(bench.workspace, 'src'));
  await put('.clineignore', rules);
  await put('private/deep/k.ts', `class ${CANARY} {}\n`);
  await put('src/x.key', `${CANARY}\n`);
  await put('src/open.ts', 'class Open {}\n');
  await symlink('private', join(bench.workspace, 'alias'));
  await symlink('../private/deep/k.ts', join(bench.workspace, 'src/link.ts'));
  return bench;
}

const calls: { tool: Tool; args: (path: string) => Record<string, unknown> }[] = [
  { tool: readFile, args: (path) => ({ path }) },
  { tool: writeToFile, args: (path) => ({ path, content: 'mine' }) },
  { tool: replaceInFile, args: (path) => ({ path, diff: `------- SEARCH\n${CANARY}\n=======\nx\n+++++++ REPLACE` }) },
  { tool: applyPatch, args: (path) => ({ input: `*** Delete File: ${path}` }) },
  { tool: applyPatch, args: (path) => ({ input: `*** Update File: src/open.ts\n*** Move to: ${path}` }) },
  { tool: listFiles, args: (path) => ({ path }) },
  { tool: searchFiles, args: (path) => ({ path, regex: 'canary' }) },
  { tool: listCodeDefinitionNames, args: (path) => ({ path }) },
];

test.each(calls)('$tool.name: a blocked path is refused, by whatever way it is named', async ({ tool, args }) => {
  const bench = await laid('# keep out\nprivate/\n*.key\n!src/open.ts\nnot-yet\n');
  for (const path of [
    'private',
    'private/deep/k.ts',
    './src/../private/deep/k.ts',
    join(bench.workspace, 'private/deep/k.ts'),
    `file://${bench.workspace}/private/deep/k.ts`,
    'alias/deep/k.ts',
    'src/link.ts',
    'src/x.key',
    'not-yet',
    'not-yet/below',
    '.clineignore',
    '.ClineIgnore',
  ]) {
    const outcome = await bench.run(tool, args(path));
    expect(outcome, path).toMatchObject({ status: 'error' });
    expect(outcome.text, path).toContain("is blocked by the workspace's .clineignore");
    await expect(bench.prepare(tool, args(path)), path).rejects.toThrow('is blocked by');
  }
  expect(await read(join(bench.workspace, 'private/deep/k.ts'), 'utf8')).toBe(`class ${CANARY} {}\n`);
  expect(await read(join(bench.workspace, '.clineignore'), 'utf8')).toContain('keep out');
  expect((await readdir(bench.workspace)).sort()).toEqual(['.clineignore', 'alias', 'private', 'src']);
});

test('listing names what is blocked and does not enter it; searching and definitions leave it out', async () => {
  const bench = await laid('private\n*.key\n');
  const listed = await bench.run(listFiles, { path: '.', recursive: true });
  expect(listed.text.split('\n')).toContain('private/ (blocked by .clineignore)');
  expect(listed.text.split('\n')).toContain('src/x.key (blocked by .clineignore)');
  expect(listed.text).not.toMatch(/^private\/deep/m);
  for (const [path, file_pattern] of [['.'], ['src'], ['.', '*.key'], ['.', '**/*'], ['src', 'x.*']]) {
    const found = await bench.run(searchFiles, { path, regex: 'canary', file_pattern });
    expect(found.text, `${path} ${file_pattern}`).toBe('Found 0 results.');
  }
  expect((await bench.run(searchFiles, { path: '.', regex: 'Open' })).text).toContain('src/open.ts');
  const names = await bench.run(listCodeDefinitionNames, { path: 'src' });
  expect(names.text).toBe('src/open.ts\n1 | class Open {}');
});

test('rules are read anew for every call, with those of an included file', async () => {
  const bench = await laid('!include rules.txt\n');
  expect((await bench.run(readFile, { path: 'src/x.key' })).status).toBe('done');
  await writeFile(join(bench.workspace, 'rules.txt'), '*.key\r\n');
  expect((await bench.run(readFile, { path: 'src/x.key' })).text).toContain('is blocked by');
  await writeFile(join(bench.workspace, 'rules.txt'), '');
  expect((await bench.run(readFile, { path: 'src/x.key' })).status).toBe('done');
});

test('where the rules cannot be read nothing is done', async () => {
  const outside = await tempFolder();
  await writeFile(join(outside, 'rules'), '');
  for (const make of [
    (path: string) => mkdir(path),
    (path: string) => symlink(join(outside, 'rules'), path),
    (path: string) => symlink('nothing', path),
    (path: string) => writeFile(path, 'x\n'.repeat(200_000)),
    (path: string) => writeFile(path, `!include ${join('..', outside.split('/').at(-1) ?? '', 'rules')}\n`),
  ]) {
    const bench = await toolBench();
    await writeFile(join(bench.workspace, 'f'), 'x\n');
    await make(join(bench.workspace, '.clineignore'));
    const outcome = await bench.run(readFile, { path: 'f' });
    expect(outcome).toMatchObject({ status: 'error', mistake: false });
    expect(outcome.text).toContain('Which files are blocked is not known');
  }
});

test('what is outside the workspace is not judged by its rules, and another name of the same file is not known', async () => {
  const bench = await laid('*.key\n');
  const outside = await tempFolder();
  await writeFile(join(outside, 'their.key'), 'x\n');
  const policy = { yolo: true, approve: ['read-outside' as const] };
  expect((await bench.run(readFile, { path: join(outside, 'their.key') }, { policy })).status).toBe('done');
  // The documented limit: a hard link is a file of its own right.
  await link(join(bench.workspace, 'src/x.key'), join(bench.workspace, 'src/other'));
  expect((await bench.run(readFile, { path: 'src/other' })).text).toContain(CANARY);
});

test('where the file system takes any case for the same, rules do too; composed and decomposed names are the same', async () => {
  const rules = 'Private/\n*.KEY\nre\u0301sume\u0301\n';
  const [any, exact] = [Blocked.by(rules, true), Blocked.by(rules, false)];
  for (const [path, directory] of [
    ['private', true],
    ['PRIVATE/x', false],
    ['a/x.key', false],
    ['a/X.Key', false],
    ['R\u00c9SUM\u00c9', false],
  ] as const) {
    expect(await any.has(path, directory), path).toBe(true);
    expect(await exact.has(path, directory), path).toBe(false);
  }
  expect(await exact.has('Private/x', false)).toBe(true);
  expect(await exact.has('r\u00e9sum\u00e9', false)).toBe(true);
});

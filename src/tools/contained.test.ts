import { mkdir, readFile as read, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Bench, tempFolder, toolBench } from '../../test/support/tools.js';
import { applyPatch } from './apply-patch.js';
import { listCodeDefinitionNames } from './list-code-definition-names.js';
import { listFiles } from './list-files.js';
import { readFile } from './read-file.js';
import { replaceInFile } from './replace-in-file.js';
import { searchFiles } from './search-files.js';
import type { Tool } from './tool.js';
import { writeToFile } from './write-to-file.js';

const CANARY = 'canary-7f3a';

async function traps(bench: Bench): Promise<{ outside: string; given: string[] }> {
  const outside = await tempFolder();
  await writeFile(join(outside, 'secret'), `${CANARY}\n`);
  await symlink(outside, join(bench.workspace, 'dir'));
  await symlink(join(outside, 'secret'), join(bench.workspace, 'file'));
  await symlink(join(outside, 'not-yet'), join(bench.workspace, 'dangling'));
  await symlink('dir', join(bench.workspace, 'twice'));
  const up = bench.workspace
    .split('/')
    .slice(1)
    .map(() => '..')
    .join('/');
  const given = [
    'dir/secret',
    'file',
    'dangling',
    'twice/secret',
    'dir/new/x',
    `${up}${outside}/secret`,
    join(outside, 'secret'),
  ];
  return { outside, given };
}

const calls: { tool: Tool; args: (path: string) => Record<string, unknown> }[] = [
  { tool: readFile, args: (path) => ({ path }) },
  { tool: writeToFile, args: (path) => ({ path, content: 'mine' }) },
  { tool: replaceInFile, args: (path) => ({ path, diff: `------- SEARCH\n${CANARY}\n=======\nx\n+++++++ REPLACE` }) },
  { tool: listFiles, args: (path) => ({ path }) },
  { tool: searchFiles, args: (path) => ({ path, regex: 'canary' }) },
  { tool: listCodeDefinitionNames, args: (path) => ({ path }) },
  { tool: applyPatch, args: (path) => ({ input: `*** Update File: ${path}\n-${CANARY}\n+x` }) },
];

test.each(calls)('$tool.name: every way out needs its own approval, under yolo too', async ({ tool, args }) => {
  const bench = await toolBench();
  const { outside, given } = await traps(bench);
  for (const path of [...given, 'dir', outside, '..', '@x:/etc/passwd']) {
    const outcome = await bench.run(tool, args(path));
    expect(outcome.status, path).toBe('error');
    expect(outcome.text, path).not.toContain(CANARY);
    if (path.startsWith('@')) continue;
    expect((await bench.prepare(tool, args(path))).approval, path).toMatchObject({ outside: true });
  }
  expect(await read(join(outside, 'secret'), 'utf8')).toBe(`${CANARY}\n`);
  expect(await readdir(outside)).toEqual(['secret']);
});

test('an approved path outside is used, a link put in after the approval is not', async () => {
  const bench = await toolBench();
  const { outside } = await traps(bench);
  const policy = { yolo: false, approve: [] };
  const args = { path: join(outside, 'secret') };
  const approved = await bench.run(readFile, args, { policy, approved: { outside: true } });
  expect(approved.text).toContain(CANARY);
  await mkdir(join(bench.workspace, 'plain'));
  const edit = { path: 'plain/new', content: 'mine' };
  expect((await bench.prepare(writeToFile, edit)).approval).toEqual({ need: 'edit', outside: false });
  await rm(join(bench.workspace, 'plain'), { recursive: true });
  await symlink(outside, join(bench.workspace, 'plain'));
  expect(await bench.run(writeToFile, edit, { policy, approved: { outside: false } })).toMatchObject({
    status: 'error',
  });
  expect(await readdir(outside)).toEqual(['secret']);
});

test('listing and searching do not follow links inside the tree out of it', async () => {
  const bench = await toolBench();
  await traps(bench);
  const listed = await bench.run(listFiles, { path: '.', recursive: true });
  expect(listed.text.split('\n')).toHaveLength(4);
  expect((await bench.run(searchFiles, { path: '.', regex: 'canary' })).text).toBe('Found 0 results.');
});

import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toolBench } from '../../test/support/tools.js';
import { applyPatch } from './apply-patch.js';
import { readFile } from './read-file.js';
import { writeToFile } from './write-to-file.js';

test('files of git and Longhaul are read like others, and edited with approval only, under yolo too', async () => {
  const bench = await toolBench();
  await mkdir(join(bench.workspace, '.git/hooks'), { recursive: true });
  await mkdir(join(bench.workspace, 'sub/.git'), { recursive: true });
  await writeFile(join(bench.workspace, '.git/config'), '[core]\n');
  await symlink('.git', join(bench.workspace, 'innocent'));
  const guarded = [
    '.git/config',
    '.git/hooks/pre-commit',
    'sub/.git/config',
    'innocent/config',
    '.GIT/config',
    '.Git/hooks/x',
    '.git./config',
    'git~1/config',
    '.g\u200cit/config',
    '.longhaul/settings.json',
    '.Longhaul/settings.json',
  ];
  for (const path of guarded) {
    const edit = { path, content: 'x' };
    expect((await bench.prepare(writeToFile, edit)).approval, path).toEqual({
      need: 'edit',
      outside: true,
      guarded: true,
    });
    expect((await bench.run(writeToFile, edit)).text, path).toContain('belongs to git or to Longhaul');
    const input = `*** Add File: ok\n+x\n*** Update File: ${path}\n-[core]\n+x`;
    expect((await bench.prepare(applyPatch, { input })).approval, path).toEqual({
      need: 'edit',
      outside: true,
      guarded: true,
    });
    expect((await bench.run(applyPatch, { input })).status, path).toBe('error');
  }
  expect((await readdir(bench.workspace)).sort()).toEqual(['.git', 'innocent', 'sub']);
  expect((await bench.run(readFile, { path: '.git/config' })).text).toContain('[core]');
  for (const path of ['.gitignore', '.github/x.yml', 'src/.longhaul-notes', 'a.git/x']) {
    expect((await bench.prepare(writeToFile, { path, content: 'x' })).approval, path).toMatchObject({ outside: false });
  }
  const approved = { outside: true };
  const policy = { yolo: false, approve: [] };
  const outcome = await bench.run(writeToFile, { path: '.git/hooks/pre-commit', content: 'x' }, { policy, approved });
  expect(outcome.status).toBe('done');
});

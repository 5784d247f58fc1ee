import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { compiled } from '../../test/support/journal.js';
import { type Bench, toolBench } from '../../test/support/tools.js';
import { settleLeftChange } from '../workspace/file-changes.js';
import { applyPatch } from './apply-patch.js';

const run = promisify(execFile);

const PATCH = `*** Begin Patch
*** Update File: a
 x
+added
*** Add File: new/deep/n
+n
*** Update File: m
*** Move to: other/m2
-m
+M
*** Delete File: d
*** Update File: z
+last
*** End Patch`;
const OLD = { a: 'x\nend\n', m: 'm\n', d: 'd\n', z: 'z\n' };
const NEW = { a: 'x\nadded\nend\n', 'new/deep/n': 'n\n', 'other/m2': 'M\n', z: 'z\nlast\n' };

async function lay(bench: Bench): Promise<void> {
  for (const name of await readdir(bench.workspace)) await rm(join(bench.workspace, name), { recursive: true });
  for (const [name, text] of Object.entries(OLD)) await writeFile(join(bench.workspace, name), text);
}

/** Every file of the workspace with its content; an empty folder counts too. */
async function tree(bench: Bench): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const entry of await readdir(bench.workspace, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(bench.workspace.length + 1);
    if (entry.isFile()) found[name] = await readFile(path, 'utf8');
    else if ((await readdir(path)).length === 0) found[`${name}/`] = '';
  }
  return found;
}

/** @returns whether it was killed there */
async function killedAt(bench: Bench, program: string, call: string, moment: string): Promise<boolean> {
  const args = [program, bench.home, bench.workspace, call, 'apply_patch'];
  try {
    await run(process.execPath, [...args, JSON.stringify({ input: PATCH }), moment]);
    return false;
  } catch (err) {
    if ((err as { signal?: string }).signal !== 'SIGKILL') throw err;
    return true;
  }
}

const MOMENTS = ['before intent', 'after intent', 'before claim', 'before rename', 'after rename', 'after claim'];

async function atEveryMoment(bench: Bench, then: (call: string, moment: string) => Promise<void>): Promise<string[]> {
  const seen: string[] = [];
  const program = await compiled('file-writer');
  for (const moment of [...MOMENTS, ...Array.from({ length: 99 }, (_, at) => `call ${at + 1}`)]) {
    await lay(bench);
    const call = `turn:${seen.length + 1}`;
    if (!(await killedAt(bench, program, call, moment))) break;
    const middle = await tree(bench);
    seen.push(JSON.stringify(middle));
    await then(call, moment);
  }
  expect(seen.length).toBeGreaterThan(MOMENTS.length + 10);
  return seen;
}

test('killed at every step, a patch is completed by the next execution, and applied once', {
  timeout: 120_000,
}, async () => {
  const bench = await toolBench();
  const seen = await atEveryMoment(bench, async (call, moment) => {
    expect(await bench.run(applyPatch, { input: PATCH }, { call }), moment).toMatchObject({ status: 'done' });
    expect(await tree(bench), moment).toEqual(NEW);
    expect(await bench.run(applyPatch, { input: PATCH }, { call }), moment).toMatchObject({ status: 'done' });
    expect(await tree(bench), moment).toEqual(NEW);
  });
  // Some of the kills were in the middle, where only a part of the files was new.
  expect(new Set(seen).size).toBeGreaterThan(8);
});

test('killed at every step and never executed again, all files are the old ones or all the new ones', {
  timeout: 120_000,
}, async () => {
  const bench = await toolBench();
  const ends = new Set<string>();
  await atEveryMoment(bench, async (call, moment) => {
    const intent = await bench.journal.getIntent(call);
    if (intent !== undefined) settleLeftChange(intent);
    const { ...files } = await tree(bench);
    // Before there is an intent, hidden files are all that can be left.
    if (intent === undefined)
      for (const name of Object.keys(files)) if (name.startsWith('.longhaul-')) delete files[name];
    expect([OLD, NEW], moment).toContainEqual(files);
    ends.add(JSON.stringify(files));
  });
  expect(ends.size).toBe(2);
});

test('a file that a person changes between crash and resumption keeps the change, and the patch is taken back', async () => {
  const bench = await toolBench();
  const program = await compiled('file-writer');
  let partly = 0;
  for (const [at, moment] of ['call 3', 'call 5', 'call 8'].entries()) {
    await lay(bench);
    await killedAt(bench, program, `t:${at}`, moment);
    if ((await tree(bench)).a !== OLD.a) partly++;
    await writeFile(join(bench.workspace, 'z'), 'theirs\n');
    for (let again = 0; again < 2; again++) {
      const outcome = await bench.run(applyPatch, { input: PATCH }, { call: `t:${at}` });
      expect(outcome).toMatchObject({ status: 'error', mistake: false });
      expect(outcome.text).toContain('z has changed since it was approved or read; no file was changed');
      expect(await tree(bench)).toEqual({ ...OLD, z: 'theirs\n' });
    }
  }
  expect(partly).toBeGreaterThan(0);
});

test('where it can neither be finished nor taken back, nobody loses a change, and it is said which files hold what', async () => {
  const bench = await toolBench();
  await lay(bench);
  await killedAt(bench, await compiled('file-writer'), 't:1', 'call 8');
  expect((await tree(bench)).a).toBe(NEW.a);
  await writeFile(join(bench.workspace, 'a'), 'mine too\n');
  await writeFile(join(bench.workspace, 'z'), 'theirs\n');
  const outcome = await bench.run(applyPatch, { input: PATCH }, { call: 't:1' });
  expect(outcome).toMatchObject({ status: 'error', slug: 'patch-interrupted' });
  expect(outcome.text).toMatch(/These hold it[^:]*: a\. These do not: /);
  expect(await tree(bench)).toEqual({ ...OLD, a: 'mine too\n', z: 'theirs\n' });
});

test('a file that cannot be replaced takes the whole patch back', async () => {
  const bench = await toolBench();
  await lay(bench);
  await mkdir(join(bench.workspace, 'new'));
  await writeFile(join(bench.workspace, 'new/deep'), 'a file where a folder has to be\n');
  const before = await tree(bench);
  expect((await bench.run(applyPatch, { input: PATCH })).status).toBe('error');
  expect(await tree(bench)).toEqual(before);
});

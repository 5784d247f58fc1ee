import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { compiled } from '../../test/support/journal.js';
import { type Bench, toolBench } from '../../test/support/tools.js';
import { settleLeftChange } from '../workspace/file-changes.js';
import { listFiles } from './list-files.js';
import { replaceInFile } from './replace-in-file.js';
import { searchFiles } from './search-files.js';
import { writeToFile } from './write-to-file.js';

const MOMENTS = ['before intent', 'after intent', 'before claim', 'before rename', 'after rename', 'after claim'];
const RENAMED = new Set(['after rename', 'after claim']);
/** Applied twice it would leave two lines. */
const REPLACE = { path: 'f', diff: '------- SEARCH\nx\n=======\nx\nadded\n+++++++ REPLACE' };
const run = promisify(execFile);

function argumentsFor(
  bench: Bench,
  program: string,
  call: string,
  tool: string,
  args: unknown,
  moment: string,
): string[] {
  return [program, bench.home, bench.workspace, call, tool, JSON.stringify(args), moment];
}

async function execute(
  bench: Bench,
  program: string,
  call: string,
  tool: string,
  args: unknown,
  moment = '',
): Promise<string> {
  const child = run(process.execPath, argumentsFor(bench, program, call, tool, args, moment));
  const { stdout } = await child.catch((err: { stdout: string; signal: string }) => {
    if (err.signal !== 'SIGKILL') throw err;
    return err;
  });
  return stdout.split('\n')[1] ?? '';
}

function start(bench: Bench, program: string, call: string, tool: string, args: unknown, moment = ''): ChildProcess {
  const child = spawn(process.execPath, argumentsFor(bench, program, call, tool, args, moment), { stdio: 'pipe' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function leftovers(bench: Bench): Promise<string[]> {
  return (await readdir(bench.workspace)).filter((name) => name.startsWith('.longhaul-'));
}

test('killed at every step, a replace is done exactly once', async () => {
  const bench = await toolBench();
  const program = await compiled('file-writer');
  const file = join(bench.workspace, 'f');
  for (const [i, moment] of MOMENTS.entries()) {
    await writeFile(file, 'x\nend\n');
    await execute(bench, program, `turn:${i}`, 'replace_in_file', REPLACE, moment);
    expect(await readFile(file, 'utf8'), moment).toBe(RENAMED.has(moment) ? 'x\nadded\nend\n' : 'x\nend\n');
    const again = await bench.run(replaceInFile, REPLACE, { call: `turn:${i}` });
    expect(again, moment).toMatchObject({ status: 'done' });
    expect(await readFile(file, 'utf8'), moment).toBe('x\nadded\nend\n');
    expect(await leftovers(bench), moment).toEqual([]);
  }
});

test('killed at seeded moments, a file is the old or the new one, and the next execution finishes it', async () => {
  const bench = await toolBench();
  const program = await compiled('file-writer');
  const old = 'old\n'.repeat(300_000);
  for (let seed = 0; seed < 12; seed++) {
    const isNew = seed % 4 === 0;
    const path = isNew ? `dir${seed}/f` : 'f';
    const file = join(bench.workspace, path);
    if (!isNew) await writeFile(file, old);
    const next = `new ${seed}\n${isNew ? '' : old.slice(4)}`;
    const args = { path, diff: `------- SEARCH\n${isNew ? '' : 'old\n'}=======\nnew ${seed}\n+++++++ REPLACE` };
    await killedAfter(start(bench, program, `seed:${seed}`, 'replace_in_file', args), (seed * 41) % 250);
    const found = await readFile(file, 'utf8').catch(() => undefined);
    expect(found === next || found === (isNew ? undefined : old), `seed ${seed}`).toBe(true);
    expect(await bench.run(replaceInFile, args, { call: `seed:${seed}` })).toMatchObject({ status: 'done' });
    expect((await readFile(file, 'utf8')) === next, `seed ${seed}`).toBe(true);
  }
  expect(await leftovers(bench)).toEqual([]);
});

async function killedAfter(child: ChildProcess, ms: number): Promise<void> {
  const exit = once(child, 'exit');
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  await sleep(ms);
  child.kill('SIGKILL');
  await exit;
}

test('a person who changes the file between crash and resumption keeps the change', async () => {
  const bench = await toolBench();
  const program = await compiled('file-writer');
  const file = join(bench.workspace, 'f');
  await writeFile(file, 'x\n');
  await execute(bench, program, 'turn:1', 'write_to_file', { path: 'f', content: 'mine\n' }, 'before rename');
  await writeFile(file, 'theirs\n');
  for (let execution = 0; execution < 2; execution++) {
    const outcome = await bench.run(writeToFile, { path: 'f', content: 'mine\n' }, { call: 'turn:1' });
    expect(outcome.status).toBe('error');
    expect(outcome.text).toMatch(/nothing was written[\s\S]*1 \| theirs/);
    expect(await readFile(file, 'utf8')).toBe('theirs\n');
  }
  expect(await leftovers(bench)).toEqual([]);
});

test('a change made after the rename is not undone by the next execution', async () => {
  const bench = await toolBench();
  const program = await compiled('file-writer');
  const file = join(bench.workspace, 'f');
  await writeFile(file, 'x\n');
  await execute(bench, program, 'turn:1', 'replace_in_file', REPLACE, 'after rename');
  await writeFile(file, 'x\nadded\nand theirs\n');
  expect(await bench.run(replaceInFile, REPLACE, { call: 'turn:1' })).toMatchObject({ status: 'done' });
  expect(await readFile(file, 'utf8')).toBe('x\nadded\nand theirs\n');
});

test('a temporary file that somebody removed is not taken for a change that was made', async () => {
  const bench = await toolBench();
  const program = await compiled('file-writer');
  const file = join(bench.workspace, 'f');
  await writeFile(file, 'x\n');
  await execute(bench, program, 'turn:1', 'replace_in_file', REPLACE, 'before rename');
  for (const name of await leftovers(bench)) await rm(join(bench.workspace, name));
  const outcome = await bench.run(replaceInFile, REPLACE, { call: 'turn:1' });
  expect(outcome).toMatchObject({ status: 'error', mistake: false });
  expect(outcome.text).toContain('is not in the file');
  expect(await readFile(file, 'utf8')).toBe('x\n');
});

test('what an aborted write has left is hidden from the tools, and removed by its intent only', async () => {
  const bench = await toolBench();
  const program = await compiled('file-writer');
  await writeFile(join(bench.workspace, 'f'), 'x\n');
  await execute(bench, program, 'turn:1', 'write_to_file', { path: 'f', content: 'secret word\n' }, 'before rename');
  const [left = ''] = await leftovers(bench);
  expect(left).not.toBe('');
  expect((await bench.run(listFiles, { path: '.' })).text).not.toContain('longhaul-');
  for (const file_pattern of ['*', '.longhaul-*', undefined]) {
    expect((await bench.run(searchFiles, { path: '.', regex: 'secret', file_pattern })).text).toContain(
      'Found 0 results',
    );
  }
  const intent = (await bench.journal.getIntent('turn:1')) ?? '';
  const [step] = (JSON.parse(intent) as { steps: { path: string; temp: string }[] }).steps;
  const temp = step?.temp ?? '';
  const elsewhere = join(bench.workspace, 'd', left);
  await mkdir(join(bench.workspace, 'd'));
  await writeFile(elsewhere, '');
  const other = (paths: object) => JSON.stringify({ steps: [{ ...step, ...paths }] });
  const wrong = [
    '',
    'null',
    '{}',
    other({ temp: elsewhere }),
    other({ temp: step?.path }),
    other({ backup: elsewhere }),
  ];
  for (const text of wrong) expect(settleLeftChange(text), text).toBe(false);
  await symlink('d', join(bench.workspace, 'link'));
  const linked = { path: join(bench.workspace, 'link/f'), temp: join(bench.workspace, 'link', left) };
  expect(settleLeftChange(other(linked))).toBe(false);
  expect(await readdir(join(bench.workspace, 'd'))).toEqual([left]);
  expect(await leftovers(bench)).toEqual([basename(temp)]);
  expect(settleLeftChange(intent)).toBe(true);
  expect(settleLeftChange(intent)).toBe(false);
  expect(await leftovers(bench)).toEqual([]);
  expect(await readFile(join(bench.workspace, 'f'), 'utf8')).toBe('x\n');
});

test('an execution that was stopped and overtaken changes nothing when it goes on', async () => {
  const bench = await toolBench();
  const program = await compiled('file-writer');
  const file = join(bench.workspace, 'f');
  for (const [i, moment] of ['before intent', 'after intent', 'before claim'].entries()) {
    await writeFile(file, 'x\n');
    const zombie = start(bench, program, `turn:${i}`, 'replace_in_file', REPLACE, `stop ${moment}`);
    let said = '';
    zombie.stdout?.on('data', (piece: Buffer) => {
      said += piece.toString();
    });
    await untilStopped(zombie);
    expect(await bench.run(replaceInFile, REPLACE, { call: `turn:${i}` })).toMatchObject({ status: 'done' });
    await writeFile(file, 'x\nadded\nlater\n');
    const exit = once(zombie, 'exit');
    zombie.kill('SIGCONT');
    expect(await exit, moment).toEqual([0, null]);
    expect(said, moment).toContain('{"error":"Superseded"}');
    expect(await readFile(file, 'utf8'), moment).toBe('x\nadded\nlater\n');
    expect(await leftovers(bench), moment).toEqual([]);
  }
});

test('a directory that cannot be written leaves everything as it was', async () => {
  const bench = await toolBench();
  await mkdir(join(bench.workspace, 'd'));
  await writeFile(join(bench.workspace, 'd/f'), 'x\n');
  const outcome = await bench.run(writeToFile, { path: `d/f/${'y'.repeat(10)}`, content: 'a' });
  expect(outcome.status).toBe('error');
  expect(await readdir(join(bench.workspace, 'd'))).toEqual(['f']);
});

async function untilStopped(child: ChildProcess): Promise<void> {
  for (;;) {
    const status = await readFile(`/proc/${child.pid}/stat`, 'utf8');
    if (status.slice(status.lastIndexOf(')')).startsWith(') T')) return;
    await sleep(20);
  }
}

test('an intent of another form is no reason to write again', async () => {
  const bench = await toolBench();
  await writeFile(join(bench.workspace, 'f'), 'x\n');
  const execution = await bench.journal.claimCall('t', 'turn:1');
  await bench.journal.putIntent('turn:1', execution, '{"path":"/f","temp":"/g","base":null,"next":""}');
  const outcome = await bench.run(replaceInFile, REPLACE, { call: 'turn:1' });
  expect(outcome).toMatchObject({ status: 'error', mistake: false });
  expect(await readFile(join(bench.workspace, 'f'), 'utf8')).toBe('x\n');
});

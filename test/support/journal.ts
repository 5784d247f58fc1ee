import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Libsql from 'libsql';
import { onTestFinished } from 'vitest';
import type { PreparedCall } from '../../src/domain/calls.js';
import type { SayEvent } from '../../src/domain/events.js';
import { callKey } from '../../src/domain/ids.js';
import type { Journal } from '../../src/journal/journal.js';
import { type OpenOptions, openJournal } from '../../src/journal/open.js';
import type { Reservation, UsageRow } from '../../src/journal/rows.js';
import { homePaths } from '../../src/settings/paths.js';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** A folder that is removed when the test ends. */
export async function tempHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'longhaul-journal-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

/** A journal that is closed when the test ends, in a home of its own when none is given. */
export async function testJournal(options: Partial<OpenOptions> = {}): Promise<Journal> {
  const journal = await openJournal({ home: options.home ?? (await tempHome()), ...options });
  onTestFinished(() => journal.close());
  return journal;
}

/** A home with a copy of another one's journal, in one file that no connection of this process has ever seen. */
export async function copiedJournal(source: string): Promise<string> {
  const raw = new Libsql(homePaths(source).journal);
  raw.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  raw.close();
  const home = await tempHome();
  await copyFile(homePaths(source).journal, homePaths(home).journal);
  return home;
}

export function taskOf(task: string) {
  return { task, workspace: `/projects/${task}`, model: 'm', title: 'Fix it', input: '{"v":1}' };
}

export function say(text: string): SayEvent {
  return { type: 'say', say: 'info', text };
}

export function textOf(turn: string, attempt: number, block: number, text: string): SayEvent {
  return { type: 'say', say: 'text', turn, attempt, block, text };
}

export const RESERVE: Reservation = {
  model: 'm',
  inputTokens: 1000,
  inputCost: 0.01,
  outputPrice: 0.001,
  maxTokens: 4000,
};

export function usageOf(turn: string, attempt: number, outputTokens = 7): UsageRow {
  const usage = { inputTokens: 100, outputTokens, cacheWriteTokens: 3, cacheReadTokens: 4 };
  return { turn, attempt, model: 'm', usage, cost: 0.25, estimated: false };
}

export function preparedCall(turn: string, block: number): PreparedCall {
  const call = callKey(turn, block);
  return { call, block, tool: 'read_file', effect: 'pure', approval: { need: 'none' }, summary: 'read_file a' };
}

/** Claims, and fails when the claim is not granted. */
export async function granted(journal: Journal, task: string, turn: string, head: string | null = null) {
  const claim = await journal.claimTurn({ task, turn }, head, RESERVE);
  if (claim.claim !== 'granted') throw new Error(`the turn is ${claim.claim}`);
  return claim;
}

/** Compiles a program of test/support with what it imports; returns the file to run with node. */
export async function compiled(name: string): Promise<string> {
  const folder = join(root, 'node_modules/.cache/longhaul-test', `${name}-${process.pid}-${Date.now()}`);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const options = [
    '--outDir',
    folder,
    '--rootDir',
    root,
    '--skipLibCheck',
    '--target',
    'es2022',
    '--lib',
    'es2023',
    '--ignoreConfig',
  ];
  const modules = ['--module', 'nodenext', '--moduleResolution', 'nodenext', '--types', 'node'];
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const file = join(root, 'test/support', `${name}.ts`);
  await run(process.execPath, [tsc, file, ...options, ...modules], { cwd: root });
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  return join(folder, 'test/support', `${name}.js`);
}

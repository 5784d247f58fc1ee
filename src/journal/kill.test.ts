import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import Libsql from 'libsql';
import { expect, test } from 'vitest';
import { compiled, taskOf, tempHome, testJournal } from '../../test/support/journal.js';
import type { StoredEvent } from '../domain/events.js';
import { homePaths } from '../settings/paths.js';
import type { Journal } from './journal.js';
import { openJournal } from './open.js';

const KILLS = 12;

test('a writer killed at any moment leaves whole transactions and nothing that points nowhere', async () => {
  const home = await tempHome();
  const program = await compiled('journal-writer');
  const first = await openJournal({ home });
  await first.createTask(taskOf('t'));
  await first.close();
  for (let seed = 1; seed <= KILLS; seed++) {
    const acknowledged = await writeUntilKilled(program, home, seed);
    const journal = await openJournal({ home });
    await checkAll(journal, acknowledged);
    await journal.close();
    expect(query(homePaths(home).journal, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  }
});

test('four processes append to one task: all there, numbered without a gap', async () => {
  const home = await tempHome();
  const journal = await testJournal({ home });
  await journal.createTask(taskOf('t'));
  const program = await compiled('journal-writer');
  const children = Array.from({ length: 4 }, () => start(program, [home, 'append', 't', '100']));
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
  expect(codes).toEqual([0, 0, 0, 0]);
  const events = await journal.readEvents('t', 0);
  expect(events.map((one) => one.seq)).toEqual(Array.from({ length: 400 }, (_, i) => i + 1));
  const texts = events.map((one) => textIn(one));
  const expected = children.flatMap((child) => Array.from({ length: 100 }, (_, i) => `${child.pid} ${i}`));
  expect([...texts].sort()).toEqual(expected.sort());
});

async function writeUntilKilled(program: string, home: string, seed: number): Promise<number> {
  const child = start(program, [home, 'random', 't', String(seed)]);
  let acknowledged = 0;
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  lines.on('line', (line) => {
    acknowledged = Number(line) || acknowledged;
  });
  await once(lines, 'line');
  await sleep((seed * 37) % 150);
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  expect(await exit).toEqual([null, 'SIGKILL']);
  return acknowledged;
}

async function checkAll(journal: Journal, acknowledged: number): Promise<void> {
  const events = await journal.readEvents('t', 0);
  expect(events.map((one) => one.seq)).toEqual(events.map((_, i) => i + 1));
  expect(events.length).toBeGreaterThanOrEqual(acknowledged);
  for (const one of events) {
    const text = textIn(one);
    if (text.startsWith('blob ')) expect((await journal.getBlob({ blob: text.slice(5) })).length).toBeGreaterThan(0);
  }
  await checkTurns(journal, events);
  const carried = (await journal.getTask('t'))?.carried;
  if (carried) expect((await journal.readConversation(JSON.parse(carried))).messages.length).toBeGreaterThan(0);
}

/** A turn's rows, its events and its usage were written together or not at all. */
async function checkTurns(journal: Journal, events: StoredEvent[]): Promise<void> {
  const said = new Map<string, string[]>();
  const retracted = new Set<string>();
  const finished = new Set<string>();
  for (const { event } of events) {
    if (event.type === 'retract') retracted.add(event.turn);
    if (event.type !== 'say') continue;
    if (event.say === 'api_req_finished') finished.add(event.turn);
    if (event.say === 'text') said.set(event.turn, [...(said.get(event.turn) ?? []), event.text]);
  }
  for (const [turn, texts] of said) {
    const row = await journal.getTurn(turn);
    const blocks = row?.blocks.map((block) => (block.type === 'text' ? block.text : ''));
    expect(blocks).toEqual(retracted.has(turn) ? [] : texts);
    expect(row?.state === 'closed').toBe(finished.has(turn));
  }
  expect((await journal.totals('t')).requests).toBe(finished.size + retracted.size);
}

function start(program: string, args: string[]): ChildProcess {
  return spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}

function textIn({ event }: StoredEvent): string {
  return event.type === 'say' && 'text' in event ? event.text : '';
}

function query(path: string, text: string): unknown[] {
  const db = new Libsql(path);
  try {
    return db.prepare(text).all();
  } finally {
    db.close();
  }
}

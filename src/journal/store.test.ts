import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { say, taskOf, tempHome, testJournal, textOf } from '../../test/support/journal.js';
import type { Message } from '../domain/blocks.js';
import { NO_USAGE } from '../domain/usage.js';
import { homePaths } from '../settings/paths.js';

const ODD = 'nul \0, half a pair \ud83d, whole \u{1f600}, "quotes", \u2028';

test('a task is stored once; the same again is nothing, another one under its id is an error', async () => {
  const journal = await testJournal();
  const row = { ...taskOf('t'), title: ODD };
  await journal.createTask(row);
  await journal.createTask(row);
  await expect(journal.createTask({ ...row, model: 'other' })).rejects.toMatchObject({ slug: 'journal-conflict' });
  const stored = await journal.getTask('t');
  expect(stored).toMatchObject({ ...row, status: 'starting', turns: 0, cost: 0, carried: null });
  expect(Math.abs(Date.now() - (stored?.created ?? 0))).toBeLessThan(60_000);
  await journal.saveCarried('t', '{"turns":3}');
  expect((await journal.getTask('t'))?.carried).toBe('{"turns":3}');
  await expect(journal.saveCarried('none', '{}')).rejects.toMatchObject({ slug: 'journal-lost' });
  expect(await journal.getTask('none')).toBeUndefined();
});

test('lists are newest first, by status and with a limit; prefixes are exact', async () => {
  const journal = await testJournal();
  for (const id of ['a1', 'a2', 'A3', 'b%', 'a_4']) await journal.createTask(taskOf(id));
  await journal.append('a2', [{ event: { type: 'status', status: 'running' } }]);
  expect((await journal.listTasks({ statuses: ['running'] })).map((row) => row.task)).toEqual(['a2']);
  expect(await journal.listTasks({ limit: 2 })).toHaveLength(2);
  const times = (await journal.listTasks()).map((row) => row.created);
  expect(times).toEqual([...times].sort((a, b) => b - a));
  expect(await journal.findTasks('a')).toEqual(['a1', 'a2', 'a_4']);
  expect(await journal.findTasks('%')).toEqual([]);
});

test('events get numbers without a gap; a key is stored once; status and end reach the task', async () => {
  const journal = await testJournal();
  await journal.createTask(taskOf('t'));
  expect(await journal.append('t', [{ key: 'k', event: say('one') }, { event: say(ODD) }])).toBe(2);
  expect(
    await journal.append('t', [
      { key: 'k', event: say('again') },
      { key: 'l', event: say('l') },
      { key: 'l', event: say('l2') },
    ]),
  ).toBe(3);
  expect(await journal.append('t', [])).toBe(3);
  const events = await journal.readEvents('t', 0);
  expect(events.map((one) => [one.seq, one.event])).toEqual([
    [1, say('one')],
    [2, say(ODD)],
    [3, say('l')],
  ]);
  expect((await journal.readEvents('t', 1, 1)).map((one) => one.seq)).toEqual([2]);
  const totals = { turns: 4, usage: NO_USAGE, cost: 1.5 };
  await journal.append('t', [{ event: { type: 'closed', outcome: { outcome: 'cancelled' }, totals } }]);
  expect(await journal.getTask('t')).toMatchObject({ status: 'cancelled', turns: 4, cost: 1.5 });
  await expect(journal.append('none', [{ event: say('x') }])).rejects.toMatchObject({ slug: 'journal-lost' });
});

test('a log of many pages is read whole', async () => {
  const journal = await testJournal();
  await journal.createTask(taskOf('t'));
  await journal.append(
    't',
    Array.from({ length: 1000 }, (_, i) => ({ key: `${i}`, event: say(`${i}`) })),
  );
  expect((await journal.readEvents('t', 0)).map((one) => one.seq)).toEqual(
    Array.from({ length: 1000 }, (_, i) => i + 1),
  );
  expect(await journal.readEvents('t', 0, 450)).toHaveLength(450);
});

test('blobs of every size come back as they were, named by content, and damage is noticed', async () => {
  const home = await tempHome();
  const journal = await testJournal({ home });
  for (const size of [0, 1, 65_536, 65_537, 3_000_000]) {
    const bytes = Buffer.alloc(size, 'a\0b\xff', 'latin1');
    const ref = await journal.putBlob(bytes);
    expect(await journal.putBlob(bytes)).toEqual(ref);
    expect(ref.bytes).toBe(size);
    expect(bytes.equals(Buffer.from(await journal.getBlob(ref)))).toBe(true);
  }
  const ref = await journal.putBlob('y'.repeat(100_000));
  const file = join(homePaths(home).blobs, ref.blob.slice(0, 2), ref.blob);
  expect(await readFile(file, 'utf8')).toBe('y'.repeat(100_000));
  await writeFile(file, 'damaged');
  await expect(journal.getBlob(ref)).rejects.toMatchObject({ slug: 'journal-lost' });
  await journal.putBlob('y'.repeat(100_000));
  expect(await journal.getText(ref)).toBe('y'.repeat(100_000));
  await rm(file);
  await expect(journal.getBlob(ref)).rejects.toMatchObject({ slug: 'journal-lost' });
  await expect(journal.getBlob({ blob: '../../etc/passwd' })).rejects.toMatchObject({ slug: 'journal-lost' });
  expect(await readdir(join(homePaths(home).blobs, 'tmp'))).toEqual([]);
});

test('many writers of one large blob at once agree', async () => {
  const journal = await testJournal();
  const refs = await Promise.all(Array.from({ length: 8 }, () => journal.putBlob('z'.repeat(200_000))));
  expect(new Set(refs.map((ref) => ref.blob)).size).toBe(1);
  expect((await journal.getText(refs[0] ?? { text: '' })).length).toBe(200_000);
});

test('short text travels by value, long text by reference', async () => {
  const journal = await testJournal();
  expect(await journal.putText(ODD)).toEqual({ text: ODD });
  const long = 'é'.repeat(600);
  const ref = await journal.putText(long);
  expect(ref).toMatchObject({ bytes: 1200 });
  expect(await journal.getText(ref)).toBe(long);
  expect(await journal.getText({ text: ODD })).toBe(ODD);
});

test('a conversation is a chain; the same messages after the same parent are the same head; branches share', async () => {
  const journal = await testJournal();
  const odd = await journal.appendMessages('t', null, [user(ODD)]);
  const two = await journal.appendMessages('t', odd, [user('two')]);
  expect(await journal.appendMessages('t', odd, [user('two')])).toBe(two);
  expect(await journal.appendMessages('t', null, [user(ODD), user('two')])).toBe(two);
  const branch = await journal.appendMessages('u', odd, [user('other')]);
  expect(branch).not.toBe(two);
  expect(await journal.readConversation(two)).toEqual({ messages: [user(ODD), user('two')], skipped: 0 });
  expect(await journal.readConversation(branch)).toEqual({ messages: [user(ODD), user('other')], skipped: 0 });
  expect(await journal.readConversation(null)).toEqual({ messages: [], skipped: 0 });
  await expect(journal.readConversation('nope')).rejects.toMatchObject({ slug: 'journal-lost' });
  await expect(journal.appendMessages('t', 'nope', [user('x')])).rejects.toMatchObject({ slug: 'journal-lost' });
});

test('2,000 messages come back in order', async () => {
  const journal = await testJournal();
  const all = Array.from({ length: 2000 }, (_, i) => user(`${i} ${'x'.repeat(500)}`));
  const head = await journal.appendMessages('t', null, all);
  expect(await journal.readConversation(head)).toEqual({ messages: all, skipped: 0 });
});

test('of a long conversation the first message and the newest ones are read, and what lies between is counted', async () => {
  const journal = await testJournal();
  const all = Array.from({ length: 700 }, (_, i) => user(`${i} é ${'x'.repeat(i * 3)}`));
  const head = await journal.appendMessages('t', null, all);
  const length = (messages: unknown[]) => messages.reduce((sum: number, one) => sum + JSON.stringify(one).length, 0);
  for (const limit of [1, 5_000, 300_000, 600_000, length(all) - 1, length(all), Number.POSITIVE_INFINITY]) {
    const { messages, skipped } = await journal.readConversation(head, limit);
    const newest = messages.length === 700 ? all : all.slice(-(messages.length - 1));
    expect(messages).toEqual(messages.length === 700 ? all : [all[0], ...newest]);
    expect(skipped).toBe(length(all) - length(messages));
    expect(length(newest)).toBeGreaterThanOrEqual(Math.min(limit, length(all.slice(1))));
    if (newest.length > 2)
      expect(length(newest.slice(1))).toBeLessThan(Math.max(limit, 1) + length(newest.slice(0, 2)));
  }
});

test('leases run out', async () => {
  const journal = await testJournal();
  await journal.renewLease({ host: 'a', queue: 'q', pid: 1 }, 60_000);
  await journal.renewLease({ host: 'b', queue: 'q', pid: 2 }, -1);
  await journal.renewLease({ host: 'a', queue: 'q2', pid: 1 }, 60_000);
  await journal.renewLease({ host: 'a', queue: 'q', pid: 3, role: 'workflow' }, 60_000);
  expect(await journal.liveHosts()).toMatchObject([{ host: 'a', queue: 'q2', pid: 1, role: 'all' }]);
  expect((await journal.liveWorkers()).map(({ pid }) => pid)).toEqual([1, 3]);
  await journal.dropLease({ host: 'a', pid: 1 });
  expect(await journal.liveHosts()).toEqual([]);
  expect((await journal.liveWorkers()).map(({ pid }) => pid)).toEqual([3]);
});

test('partials are kept in order until they are dropped, one stream apart from another', async () => {
  const journal = await testJournal();
  const piece = { task: 't', turn: 'u', attempt: 1, kind: 'text' as const };
  await journal.addPartial({ ...piece, stream: 'u:0', offset: 0, text: ODD });
  await journal.addPartial({ ...piece, stream: 'u:1', offset: 0, text: 'b' });
  const rows = await journal.readPartials('t', 0);
  expect(rows.map((row) => row.partial.text)).toEqual([ODD, 'b']);
  expect(await journal.readPartials('t', rows[0]?.id ?? 0)).toEqual(rows.slice(1));
  await journal.dropPartials('t', 'u:0');
  expect((await journal.readPartials('t', 0)).map((row) => row.partial.stream)).toEqual(['u:1']);
  await journal.createTask(taskOf('t'));
  await journal.append('t', [{ event: textOf('u', 1, 1, 'b') }]);
  await journal.addPartial({ ...piece, stream: 'u:1', offset: 1, text: 'late' });
  expect(await journal.readPartials('t', 0)).toEqual([]);
});

function user(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] };
}

import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Libsql from 'libsql';
import { expect, onTestFinished, test } from 'vitest';
import { say, taskOf, tempHome, testJournal } from '../../test/support/journal.js';
import { homePaths } from '../settings/paths.js';
import { openJournal } from './open.js';

test('the first opening makes private folders and files and an identity that stays', async () => {
  const home = join(await tempHome(), 'deep', 'home');
  const first = await openJournal({ home });
  expect(first.id).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), generation: 1 });
  await first.close();
  const second = await testJournal({ home });
  expect(second.id).toEqual(first.id);
  const paths = homePaths(home);
  expect((await stat(home)).mode & 0o777).toBe(0o700);
  for (const file of [paths.journal, paths.partials]) expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await readdir(home)).filter((name) => name.includes('.new-'))).toEqual([]);
});

test('eight openings of a new home at once agree on one journal', async () => {
  const home = await tempHome();
  const journals = await Promise.all(Array.from({ length: 8 }, () => testJournal({ home })));
  expect(new Set(journals.map((one) => one.id.id)).size).toBe(1);
  await journals[0]?.createTask(taskOf('t'));
  await Promise.all(journals.map((one, i) => one.append('t', [{ event: say(`${i}`) }])));
  expect((await journals[3]?.readEvents('t', 0))?.map((one) => one.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test('a readonly journal reads, refuses writes, and makes nothing', async () => {
  const home = await tempHome();
  await expect(openJournal({ home: join(home, 'none'), readonly: true })).rejects.toMatchObject({
    slug: 'journal-lost',
  });
  expect(await readdir(home)).toEqual([]);
  const writer = await testJournal({ home });
  await writer.createTask(taskOf('t'));
  const reader = await testJournal({ home, readonly: true });
  expect(await reader.findTasks('')).toEqual(['t']);
  await expect(reader.append('t', [{ event: say('x') }])).rejects.toThrow();
});

test('a file that is no database is reported and left as it is', async () => {
  const { path, home } = await closedJournal();
  await writeFile(path, 'not a database, '.repeat(1000));
  await refusesUntouched(home, path);
});

test('a file cut short is reported and left as it is', async () => {
  for (const keep of [0, 100, 5000, 20_000]) {
    const { path, home } = await closedJournal();
    await truncate(path, keep);
    await refusesUntouched(home, path);
  }
});

test('damage inside the file is reported when it is met', async () => {
  const { path, home } = await closedJournal();
  const bytes = await readFile(path);
  bytes.fill(0x5a, 4096);
  await writeFile(path, bytes);
  await refusesUntouched(home, path);
});

test('a database of another program, a folder, and a lone write-ahead file are reported', async () => {
  const { path, home } = await closedJournal();
  await rm(path);
  const foreign = new Libsql(path);
  foreign.exec('CREATE TABLE other (id INTEGER)');
  foreign.close();
  await refusesUntouched(home, path);
  await rm(path);
  await mkdir(path);
  await expect(openJournal({ home })).rejects.toMatchObject({ slug: 'journal-corrupt' });
  await rm(path, { recursive: true });
  await writeFile(`${path}-wal`, 'frames');
  await expect(openJournal({ home })).rejects.toMatchObject({ slug: 'journal-corrupt' });
  expect(await readFile(`${path}-wal`, 'utf8')).toBe('frames');
});

test('a newer schema is reported and left as it is', async () => {
  const { path, home } = await closedJournal();
  const raw = new Libsql(path);
  raw.exec('PRAGMA journal_mode = DELETE; PRAGMA user_version = 99');
  raw.close();
  await refusesUntouched(home, path, 'journal-newer');
});

test('a journal locked for reading by another program is reported within the bound, and opens afterwards', async () => {
  const { path, home } = await closedJournal();
  const raw = new Libsql(path);
  raw.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; UPDATE journal SET generation = 1');
  await expect(openJournal({ home, lockTimeoutMs: 60 })).rejects.toMatchObject({ slug: 'journal-locked' });
  raw.exec('COMMIT');
  raw.close();
  const journal = await testJournal({ home, lockTimeoutMs: 2000 });
  await journal.createTask(taskOf('t'));
});

test('a write lock held by another program fails writes within the bound, keeps reads, and nothing is lost', async () => {
  const home = await tempHome();
  const journal = await testJournal({ home, lockTimeoutMs: 60 });
  await journal.createTask(taskOf('t'));
  const raw = new Libsql(homePaths(home).journal);
  onTestFinished(() => void raw.close());
  raw.exec('BEGIN IMMEDIATE');
  await expect(journal.append('t', [{ event: say('a') }])).rejects.toMatchObject({ slug: 'journal-locked' });
  expect(await journal.getTask('t')).toMatchObject({ task: 't' });
  raw.exec('COMMIT');
  expect(await journal.append('t', [{ event: say('b') }])).toBe(1);
});

test('beside a Temporal database a missing journal is a lost one, and no empty one is made', async () => {
  const home = await tempHome();
  await writeFile(homePaths(home).temporalDb, 'tasks');
  const opening = openJournal({ home });
  await expect(opening).rejects.toMatchObject({ slug: 'journal-lost', next: expect.stringContaining('backup') });
  expect(await readdir(home)).toEqual(['temporal.db']);
  await rm(homePaths(home).temporalDb);
  await (await openJournal({ home })).close();
  await writeFile(homePaths(home).temporalDb, 'tasks');
  await testJournal({ home });
});

test('a journal that is removed, replaced or overwritten while it is open is noticed', async () => {
  const { home, path } = await closedJournal();
  const other = await closedJournal();
  const journal = await testJournal({ home });
  await journal.check();
  await rename(path, `${path}.kept`);
  await expect(journal.check()).rejects.toMatchObject({ slug: 'journal-lost' });
  await copyFile(other.path, path);
  await expect(journal.check()).rejects.toMatchObject({ slug: 'journal-lost' });
  await rename(`${path}.kept`, path);
  await journal.check();
  const raw = new Libsql(path);
  onTestFinished(() => void raw.close());
  raw.exec('UPDATE journal SET generation = 2');
  await expect(journal.check()).rejects.toMatchObject({ slug: 'journal-lost' });
});

test('damaged partials are set aside, since they have no lasting value', async () => {
  const { home } = await closedJournal();
  const path = homePaths(home).partials;
  await writeFile(path, 'zeros where pages were');
  const journal = await testJournal({ home });
  await journal.addPartial({ task: 't', turn: 'u', stream: 'u:0', attempt: 1, kind: 'text', offset: 0, text: 'x' });
  expect(await journal.readPartials('t', 0)).toHaveLength(1);
  expect((await readdir(home)).some((name) => name.startsWith('partials.db.damaged-'))).toBe(true);
});

/** A journal with some pages of content, in one file that no connection of this process has ever seen. */
async function closedJournal(): Promise<{ home: string; path: string }> {
  const source = await tempHome();
  const journal = await openJournal({ home: source });
  await journal.createTask(taskOf('t'));
  for (let i = 0; i < 20; i++) await journal.append('t', [{ event: say('x'.repeat(3000)) }]);
  const raw = new Libsql(homePaths(source).journal);
  raw.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  raw.close();
  const home = await tempHome();
  const path = homePaths(home).journal;
  await copyFile(homePaths(source).journal, path);
  await journal.close();
  return { home, path };
}

async function refusesUntouched(home: string, path: string, slug = 'journal-corrupt'): Promise<void> {
  const before = await hashOf(path);
  const opening = openJournal({ home, lockTimeoutMs: 500 });
  await expect(opening).rejects.toMatchObject({ slug, message: expect.stringContaining(path) });
  await expect(opening).rejects.toMatchObject({ kept: expect.any(String), next: expect.any(String) });
  expect(await hashOf(path)).toBe(before);
}

async function hashOf(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

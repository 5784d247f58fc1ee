import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import Libsql from 'libsql';
import { expect, onTestFinished, test } from 'vitest';
import { tempHome } from '../../test/support/journal.js';
import { bindable, Database } from './database.js';

interface Schema {
  note: { id: number; json: string };
}

test('values that the driver would end the process for, or would change, are refused with an error', () => {
  const refused = [true, Buffer.from('x'), new Date(0), {}, [], undefined, Number.NaN, 1n, 'a\0b', 'a\ud800'];
  for (const value of refused) expect(() => bindable(['ok', value])).toThrow(/Value 2 cannot be stored/);
  expect(bindable([null, 1.5, 'a\u{1f600}'])).toEqual([null, 1.5, 'a\u{1f600}']);
});

test('a refused value fails its own transaction and nothing else', async () => {
  const { db } = await notes();
  const bad = db.write((tx) =>
    tx
      .insertInto('note')
      .values({ id: 1, json: true as unknown as string })
      .execute(),
  );
  await expect(bad).rejects.toThrow(TypeError);
  await put(db, 2);
  expect(await ids(db)).toEqual([2]);
});

test('closing lets what has begun end; what comes later fails with an error', async () => {
  const { db } = await notes();
  const begun = [put(db, 1), db.read((tx) => tx.selectFrom('note').selectAll().execute())];
  await Promise.all([db.close(), db.close()]);
  await Promise.all(begun);
  for (const late of [() => put(db, 2), () => ids(db)])
    await expect(late()).rejects.toMatchObject({ name: 'AbortError' });
  await db.close();
  expect(() => db.version()).toThrow(/has been closed/);
});

test('any text survives as JSON', async () => {
  const { db } = await notes();
  let id = 0;
  const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
  await fc.assert(
    fc.asyncProperty(fc.string({ unit }), async (text) => {
      const key = ++id;
      await db.write((tx) =>
        tx
          .insertInto('note')
          .values({ id: key, json: JSON.stringify(text) })
          .execute(),
      );
      const [row] = await db.read((tx) => tx.selectFrom('note').select('json').where('id', '=', key).execute());
      expect(JSON.parse(row?.json ?? '')).toBe(text);
    }),
  );
});

test('a transaction that throws leaves nothing, and later ones go on', async () => {
  const { db } = await notes();
  const failing = db.write(async (tx) => {
    await tx.insertInto('note').values({ id: 1, json: '1' }).execute();
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  await put(db, 2);
  expect(await ids(db)).toEqual([2]);
});

test('a lock of another connection is waited for with the event loop free', async () => {
  const { db, other } = await notes();
  other.exec('BEGIN IMMEDIATE');
  let ticks = 0;
  const timer = setInterval(() => ticks++, 5);
  const writing = Promise.all([put(db, 1), put(db, 2)]);
  await sleep(150);
  expect(ticks).toBeGreaterThan(3);
  expect(await ids(db)).toEqual([]);
  other.exec('COMMIT');
  await writing;
  clearInterval(timer);
  expect(await ids(db)).toEqual([1, 2]);
});

test('a lock held too long is an error for people; the connection works again afterwards', async () => {
  const { db, other } = await notes(80);
  other.exec('BEGIN IMMEDIATE');
  const results = await Promise.allSettled([put(db, 1), put(db, 2)]);
  for (const result of results) expect(result).toMatchObject({ reason: { slug: 'journal-locked' } });
  other.exec('ROLLBACK');
  await put(db, 3);
  expect(await ids(db)).toEqual([3]);
});

test('data_version moves for the writes of other connections only', async () => {
  const { db, path } = await notes();
  const watcher = await Database.open<Schema>(path, { synchronous: 'full', readonly: true });
  onTestFinished(() => watcher.close());
  const [mine, theirs] = [db.dataVersion(), watcher.dataVersion()];
  await put(db, 1);
  expect(db.dataVersion()).toBe(mine);
  expect(watcher.dataVersion()).not.toBe(theirs);
  await expect(put(watcher, 2)).rejects.toThrow();
});

async function notes(lockTimeoutMs = 5000) {
  const path = join(await tempHome(), 'notes.db');
  const other = new Libsql(path);
  other.exec('PRAGMA journal_mode = WAL; CREATE TABLE note (id INTEGER PRIMARY KEY, json TEXT)');
  const db = await Database.open<Schema>(path, { synchronous: 'full', lockTimeoutMs });
  onTestFinished(async () => {
    other.close();
    await db.close();
  });
  return { db, other, path };
}

function put(db: Database<Schema>, id: number) {
  return db.write((tx) => tx.insertInto('note').values({ id, json: '0' }).execute());
}

async function ids(db: Database<Schema>): Promise<number[]> {
  const rows = await db.read((tx) => tx.selectFrom('note').select('id').orderBy('id').execute());
  return rows.map((row) => row.id);
}

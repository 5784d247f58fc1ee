import { Kysely, SqliteDialect } from 'kysely';
import Libsql from 'libsql';
import { expect, test } from 'vitest';
import { tempHome, testJournal } from '../../../test/support/journal.js';
import type { Message } from '../../domain/blocks.js';
import { homePaths } from '../../settings/paths.js';
import { contentHash } from '../turn-rows.js';
import { journal1 } from './journal-1.js';

const message = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] });

type First = Kysely<{ message: { id: string; parent: string | null; task: string; depth: number; json: string } }>;

/** A home whose journal has the first schema. @param fill puts something into it */
async function firstHome(fill: (db: First, raw: Libsql.Database) => Promise<void>): Promise<string> {
  const home = await tempHome();
  const raw = new Libsql(homePaths(home).journal);
  const db: First = new Kysely({ dialect: new SqliteDialect({ database: raw }) });
  await journal1(db as unknown as Kysely<unknown>);
  await fill(db, raw);
  raw.exec('PRAGMA user_version = 1');
  await db.destroy();
  return home;
}

test('tasks of the first schema are what they were; leases are renewed anyway', async () => {
  const home = await firstHome(async (_db, raw) => {
    raw.exec(`INSERT INTO task (id, created, workspace, model, title, server, status, since, turns, cost, input, seq)
      VALUES ('t', 1, '"/w"', 'm', '"Fix it"', 'local', 'waiting', 1, 0, 0, '{}', 0);
      INSERT INTO lease VALUES ('h', 'q', 'local', 1, 9e15)`);
  });
  const opened = await testJournal({ home });
  expect(await opened.getTask('t')).toMatchObject({ title: 'Fix it', run: null, profile: null });
  expect(await opened.liveWorkers()).toEqual([]);
  await opened.renewLease({ host: 'h', queue: 'longhaul', pid: 2 }, 60_000);
  expect(await opened.enterRun('t', 'r', null)).toBe(true);
});

test('conversations of the first schema are what they were, however long, and grow', async () => {
  const all = Array.from({ length: 450 }, (_, i) => message(`${i} 😀 ${'x'.repeat(i)}`));
  const heads: string[] = [];
  const home = await firstHome(async (db) => {
    for (const [i, one] of [...all, message('a branch')].entries()) {
      // the last one is a branch of the second
      const depth = i < all.length ? i + 1 : 3;
      const parent = depth === 1 ? null : heads[depth - 2]!;
      const id = contentHash([parent, one.role, one.content]);
      heads.push(id);
      await db
        .insertInto('message')
        .values({ id, parent, task: 't', depth, json: JSON.stringify(one) })
        .execute();
    }
  });

  const journal = await testJournal({ home });
  expect(await journal.readConversation(heads[449]!)).toEqual({ messages: all, skipped: 0 });
  expect((await journal.readConversation(heads[450]!)).messages).toEqual([all[0], all[1], message('a branch')]);
  const grown = await journal.appendMessages('t', heads[449]!, [message('new')]);
  expect(grown).toBe(contentHash([heads[449], 'user', message('new').content]));
  const fresh = await testJournal({ home });
  const { messages, skipped } = await fresh.readConversation(grown, 10_000);
  const left = all.slice(1, 1 + all.length + 1 - messages.length);
  expect(messages).toEqual([all[0], ...all.slice(1 + left.length), message('new')]);
  expect(skipped).toBe(left.reduce((sum, one) => sum + JSON.stringify(one).length, 0));
});

import { Kysely, SqliteDialect } from 'kysely';
import Libsql from 'libsql';
import { expect, test } from 'vitest';
import { tempHome, testJournal } from '../../../test/support/journal.js';
import type { Message } from '../../domain/blocks.js';
import { homePaths } from '../../settings/paths.js';
import { contentHash } from '../turn-rows.js';
import { journal1 } from './journal-1.js';

const message = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] });

test('conversations of the first schema are what they were, however long, and grow', async () => {
  const home = await tempHome();
  const { journal: path } = homePaths(home);
  const raw = new Libsql(path);
  const db = new Kysely<{ message: { id: string; parent: string | null; task: string; depth: number; json: string } }>({
    dialect: new SqliteDialect({ database: raw }),
  });
  await journal1(db as unknown as Kysely<unknown>);
  const all = Array.from({ length: 450 }, (_, i) => message(`${i} 😀 ${'x'.repeat(i)}`));
  const heads: string[] = [];
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
  raw.exec('PRAGMA user_version = 1');
  await db.destroy();

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

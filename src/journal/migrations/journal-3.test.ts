import { Kysely, SqliteDialect } from 'kysely';
import Libsql from 'libsql';
import { expect, test } from 'vitest';
import { RESERVE, tempHome, testJournal, usageOf } from '../../../test/support/journal.js';
import { homePaths } from '../../settings/paths.js';
import { journal1 } from './journal-1.js';
import { journal2 } from './journal-2.js';

test('tasks of the second schema are trees of their own, with what they have used; a request that runs counts', async () => {
  const home = await tempHome();
  const raw = new Libsql(homePaths(home).journal);
  const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: raw }) });
  await journal1(db);
  await journal2(db);
  const task = (id: string, turns: number, cost: number) =>
    raw.exec(`INSERT INTO task (id, created, workspace, model, title, server, status, since, turns, cost, input, seq)
      VALUES ('${id}', 1, '"/${id}"', 'm', '"Fix it"', 'local', 'waiting', 1, ${turns}, ${cost}, '{}', 0)`);
  task('a', 2, 0.75);
  task('b', 0, 0);
  raw.exec(
    `INSERT INTO usage VALUES ('u1', 1, 'a', 'm', 1, 20, 300, 4000, 0.25, 0, 1), ('u2', 1, 'a', 'm', 5, 0, 0, 0, 0.5, 1, 1)`,
  );
  raw.exec(`INSERT INTO turn VALUES ('u3', 'a', NULL, 1, 0, 0, 'open', NULL, NULL, 0, NULL)`);
  const estimate = '{"inputTokens":100,"inputCost":0.01,"outputPrice":0.001}';
  raw.exec(`INSERT INTO ledger VALUES ('a', 'u3', 1, 'm', 500, 0.41, '${estimate}', 0)`);
  raw.exec('PRAGMA user_version = 2');
  await db.destroy();

  const journal = await testJournal({ home });
  expect(await journal.treeUse('a')).toEqual({ turns: 2, tokens: 4326, cost: 0.75 });
  expect(await journal.treeUse('b')).toEqual({ turns: 0, tokens: 0, cost: 0 });
  const claim = (turn: string, turns: number) =>
    journal.claimTurn({ task: 'a', turn }, null, RESERVE, { caps: { turns } });
  expect(await claim('u4', 3)).toEqual({ claim: 'spent', spent: { limit: 'turns', used: 3, cap: 3 } });
  expect(await claim('u3', 3)).toMatchObject({ claim: 'granted', attempt: 2 });
  await journal.closeTurn('u3', 2, { stop: 'end_turn', usage: usageOf('u3', 2) });
  const used = await journal.treeUse('a');
  expect(used).toMatchObject({ turns: 3, tokens: 4326 + 100 + 114 });
  expect(used.cost).toBeCloseTo(0.75 + 0.01 + 0.25);
});

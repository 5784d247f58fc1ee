import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copiedJournal, taskOf, tempHome, testJournal } from '../../test/support/journal.js';
import { homePaths } from '../settings/paths.js';
import { peek } from './peek.js';

const count = 'SELECT count(*) AS n FROM task WHERE id >= ?';

test('sees what others have written, and can write nothing', async () => {
  const home = await tempHome();
  const { journal: path } = homePaths(home);
  const journal = await testJournal({ home });
  await journal.createTask(taskOf('t'));
  const db = peek(path);
  expect(db.all(count, 'a')).toEqual([{ n: 1 }]);
  expect(() => db.all('DELETE FROM task')).toThrow(/readonly|read-only/i);
  await journal.createTask(taskOf('u'));
  expect(db.all(count, 'a')).toEqual([{ n: 2 }]);
  db.close();
});

test('of a journal that nobody has open it changes nothing', async () => {
  const source = await tempHome();
  await testJournal({ home: source });
  const home = await copiedJournal(source);
  const { journal: path } = homePaths(home);
  const [names, bytes] = [await readdir(home), await readFile(path)];
  const db = peek(path);
  expect(db.all(count, '')).toEqual([{ n: 0 }]);
  expect(() => db.all('DELETE FROM task')).toThrow(/readonly|read-only/i);
  db.close();
  expect(await readdir(home)).toEqual(names);
  expect(await readFile(path)).toEqual(bytes);
});

test('of one that is not there it makes nothing', async () => {
  const home = await tempHome();
  expect(() => peek(homePaths(home).journal)).toThrow();
  expect(await readdir(home)).toEqual([]);
});

test('finds a journal whatever its folder is called', async () => {
  const home = join(await tempHome(), 'a b?c#d%41é');
  await mkdir(home);
  const journal = await testJournal({ home });
  await journal.createTask(taskOf('t'));
  expect(peek(homePaths(home).journal).all(count, '')).toEqual([{ n: 1 }]);
});

import { readFile as read, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { taskOf, testJournal } from '../../test/support/journal.js';
import { toolBench } from '../../test/support/tools.js';
import { applyPatch } from './apply-patch.js';
import { readFile } from './read-file.js';
import { replaceInFile } from './replace-in-file.js';
import { writeToFile } from './write-to-file.js';

const diffOf = (search: string, replace: string) => `------- SEARCH\n${search}\n=======\n${replace}\n+++++++ REPLACE`;

test('two agents read a file and both write the whole of it: the second one is shown what the first has written', async () => {
  const bench = await toolBench();
  await bench.journal.createTask(taskOf('other'));
  const file = join(bench.workspace, 'notes.md');
  await writeFile(file, 'notes\n');
  const other = { task: 'other' };
  await bench.run(readFile, { path: 'notes.md' });
  await bench.run(readFile, { path: 'notes.md' }, other);
  expect((await bench.run(writeToFile, { path: 'notes.md', content: 'notes\nfirst\n' })).status).toBe('done');
  const refused = await bench.run(writeToFile, { path: 'notes.md', content: 'notes\nsecond\n' }, other);
  expect(refused).toMatchObject({ status: 'error', mistake: false });
  expect(refused.text).toMatch(/nothing was written[\s\S]*2 \| first/);
  expect(await read(file, 'utf8')).toBe('notes\nfirst\n');
  const merged = 'notes\nfirst\nsecond\n';
  expect((await bench.run(writeToFile, { path: 'notes.md', content: merged }, other)).status).toBe('done');
  expect(await read(file, 'utf8')).toBe(merged);
});

test('a person edits between reading and writing; own writes one after the other are no conflict', async () => {
  const bench = await toolBench();
  const file = join(bench.workspace, 'f');
  const write = (content: string, more = {}) => bench.run(writeToFile, { path: 'f', content }, more);
  expect((await write('one\n')).status).toBe('done');
  expect((await write('two\n')).status).toBe('done');
  await bench.run(replaceInFile, { path: 'f', diff: diffOf('two', 'three') });
  expect((await write('four\n')).status).toBe('done');
  await writeFile(file, 'formatted\n');
  expect((await write('five\n')).text).toContain('formatted');
  expect((await write('five\n')).status).toBe('done');
  await writeFile(file, 'theirs\n');
  const { base } = await bench.prepare(writeToFile, { path: 'f', content: 'six\n' });
  expect((await write('six\n', { approved: { base } })).status).toBe('done');
});

test('what the model has not seen whole has to be read before it is written whole', async () => {
  const bench = await toolBench();
  const file = join(bench.workspace, 'long');
  const long = Array.from({ length: 5000 }, (_, at) => `line ${at}\n`).join('');
  await writeFile(file, long);
  await bench.run(readFile, { path: 'long' });
  await writeFile(file, `theirs\n${long}`);
  const write = () => bench.run(writeToFile, { path: 'long', content: 'mine\n' });
  expect((await write()).status).toBe('error');
  expect((await write()).status).toBe('error');
  await bench.run(replaceInFile, { path: 'long', diff: diffOf('line 4000', 'changed') });
  expect((await write()).status).toBe('error');
  await bench.run(readFile, { path: 'long' });
  expect((await write()).status).toBe('done');
});

test('what was read is known after a restart', async () => {
  const bench = await toolBench();
  await writeFile(join(bench.workspace, 'f'), 'one\n');
  await bench.run(readFile, { path: 'f' });
  await writeFile(join(bench.workspace, 'f'), 'theirs\n');
  const journal = await testJournal({ home: bench.home });
  const outcome = await bench.run(writeToFile, { path: 'f', content: 'mine\n' }, { journal });
  expect(outcome.text).toContain('1 | theirs');
});

test('a patch does not delete what has changed since it was read', async () => {
  const bench = await toolBench();
  const file = join(bench.workspace, 'f');
  await writeFile(file, 'one\n');
  await bench.run(readFile, { path: 'f' });
  await writeFile(file, 'theirs\n');
  const outcome = await bench.run(applyPatch, { input: '*** Delete File: f' });
  expect(outcome).toMatchObject({ status: 'error', mistake: false });
  expect(await read(file, 'utf8')).toBe('theirs\n');
  await bench.run(readFile, { path: 'f' });
  expect((await bench.run(applyPatch, { input: '*** Delete File: f' })).status).toBe('done');
});

test('edits of one file at the same time: each is in it, or was refused', async () => {
  const bench = await toolBench();
  const file = join(bench.workspace, 'f');
  const names = Array.from({ length: 12 }, (_, at) => `line ${at}`);
  await writeFile(file, names.map((name) => `${name}\n`).join(''));
  const outcomes = await Promise.all(
    names.map((name, at) =>
      at % 2 === 0
        ? bench.run(replaceInFile, { path: 'f', diff: diffOf(name, `${name} done`) })
        : bench.run(applyPatch, { input: `*** Update File: f\n-${name}\n+${name} done\n*** Add File: n${at}\n+x` }),
    ),
  );
  const text = await read(file, 'utf8');
  for (const [at, { status }] of outcomes.entries()) {
    expect(text.includes(`line ${at} done\n`), `${at}`).toBe(status === 'done');
    const added = await read(join(bench.workspace, `n${at}`), 'utf8').catch(() => undefined);
    if (at % 2 === 1) expect(added, `${at}`).toBe(status === 'done' ? 'x\n' : undefined);
  }
  expect(outcomes.some(({ status }) => status === 'done')).toBe(true);
});

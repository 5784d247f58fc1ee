import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Libsql from 'libsql';
import { expect, it, onTestFinished } from 'vitest';
import { copiedJournal, taskOf, tempHome, testJournal } from '../../../test/support/journal.js';
import { JOURNAL_MIGRATIONS } from '../../journal/migrations/index.js';
import { homePaths } from '../../settings/paths.js';
import { blobsFinding } from './blobs.js';
import { journalFinding } from './journal.js';
import { type JournalLook, lookAtJournal } from './journal-look.js';

const closed = { type: 'closed', outcome: { outcome: 'cancelled' } } as const;
const totals = {
  turns: 0,
  usage: { inputTokens: 0, outputTokens: 0, cacheWriteTokens: 0, cacheReadTokens: 0 },
  cost: 0,
};

async function row(home: string) {
  const paths = homePaths(home);
  return journalFinding(await lookAtJournal(paths), paths.journal);
}

/** A journal with tasks in it that nobody has open. */
async function closedJournal(): Promise<string> {
  const source = await tempHome();
  const journal = await testJournal({ home: source });
  for (const task of ['a', 'b', 'c']) await journal.createTask(taskOf(task));
  await journal.append('a', [{ event: { type: 'status', status: 'waiting' } }]);
  await journal.append('b', [{ event: { ...closed, totals } }]);
  return copiedJournal(source);
}

it('is well when it is sound, and says what is in it', async () => {
  const home = await closedJournal();
  expect(await row(home)).toMatchObject({
    state: 'ok',
    found: expect.stringMatching(/^\d+ KB, schema \d+, sound; 2 open tasks \(1 starting, 1 waiting\), 1 ended$/),
  });
});

it('is well where there is none, and none is made', async () => {
  const home = await tempHome();
  expect(await row(join(home, 'other'))).toMatchObject({ state: 'ok', found: expect.stringContaining('none yet') });
  expect(await readdir(home)).toEqual([]);
});

it('is only looked at: no file of the home changes', async () => {
  const home = await closedJournal();
  const seen = async () => {
    const names = (await readdir(home, { recursive: true })).sort();
    return Promise.all(names.map(async (name) => [name, (await stat(join(home, name))).mtimeMs]));
  };
  const before = await seen();
  expect((await row(home)).state).toBe('ok');
  expect(await seen()).toEqual(before);
});

it('is looked at beside those who write to it', async () => {
  const home = await tempHome();
  const journal = await testJournal({ home });
  await journal.createTask(taskOf('t'));
  await journal.createTask({ ...taskOf('u'), input: '{"hostQueue":"longhaul-host-a"}' });
  await journal.renewLease({ host: 'h', queue: 'q', pid: 7 }, 60_000);
  const look = await lookAtJournal(homePaths(home));
  expect(look).toMatchObject({
    state: 'readable',
    flaws: [],
    facts: {
      id: journal.id.id,
      leases: [{ host: 'h', pid: 7, server: 'local' }],
      tasks: [
        { status: 'starting', queue: 'longhaul', count: 1 },
        { status: 'starting', queue: 'longhaul-host-a', count: 1 },
      ],
    },
  });
});

it('is broken when it is damaged, empty, cut short or no database', async () => {
  const damage: [RegExp, (path: string) => Promise<void>][] = [
    [/cannot be read: it is empty/, (path) => truncate(path, 0)],
    [/cannot be read|is damaged/, (path) => truncate(path, 20_000)],
    [/cannot be read.*not a database/, (path) => writeFile(path, 'not a database, '.repeat(1000))],
    [/is damaged|cannot be read/, scribble],
  ];
  for (const [words, act] of damage) {
    const home = await closedJournal();
    const { journal } = homePaths(home);
    await act(journal);
    const before = await readFile(journal);
    const finding = await row(home);
    expect(finding).toMatchObject({ state: 'bad', found: expect.stringMatching(words) });
    expect(finding.next).toContain('backup');
    expect(await readFile(journal)).toEqual(before);
  }
});

it('is broken when it is of a newer Longhaul, or of another program, and well when it is older', async () => {
  const home = await closedJournal();
  const { journal } = homePaths(home);
  const setVersion = (version: number) => {
    const db = new Libsql(journal);
    db.exec(`PRAGMA user_version = ${version}`);
    db.close();
  };
  setVersion(99);
  expect(await row(home)).toMatchObject({ state: 'bad', found: expect.stringContaining('newer Longhaul') });
  setVersion(0);
  expect(await row(home)).toMatchObject({ state: 'bad', found: expect.stringContaining('not one of Longhaul') });
  const facts = { version: 1, known: 2, id: null, tasks: [], leases: [], blobs: { looked: 0, faults: [] } };
  const older = journalFinding({ state: 'readable', facts, bytes: 4096, flaws: [] }, journal);
  expect(older).toMatchObject({ state: 'ok', found: expect.stringContaining('brought to 2') });
});

it('is broken when it is missing beside what belongs to it', async () => {
  for (const [name, content] of [
    ['temporal.db', ''],
    ['journal.db-wal', 'frames'],
  ] as const) {
    const home = await tempHome();
    await writeFile(join(home, name), content);
    const finding = await row(home);
    expect(finding).toMatchObject({ state: 'bad', found: expect.stringContaining(name) });
    expect(finding.next).toContain('backup');
  }
});

it('deserves a look while another program locks it', async () => {
  const home = await tempHome();
  const db = new Libsql(homePaths(home).journal);
  onTestFinished(() => void db.close());
  db.exec(
    `PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA user_version = ${JOURNAL_MIGRATIONS.length}`,
  );
  expect(await row(home)).toMatchObject({ state: 'warn', found: expect.stringContaining('locked') });
});

it('is given up after a time, and the rest of what was read counts', async () => {
  const home = await closedJournal();
  const paths = homePaths(home);
  const look = await lookAtJournal(paths, 1);
  expect(journalFinding(look, paths.journal)).toMatchObject({ state: 'bad', found: expect.stringContaining('within') });
  const whole = (await lookAtJournal(paths)) as Extract<JournalLook, { state: 'readable' }>;
  const late = journalFinding({ ...whole, flaws: undefined }, paths.journal);
  expect(late).toMatchObject({ state: 'ok', found: expect.stringContaining('not checked as a whole') });
});

it('large texts are well when they are there, and broken when they are missing or cut', async () => {
  const home = await tempHome();
  const { blobs } = homePaths(home);
  const journal = await testJournal({ home });
  await journal.createTask(taskOf('t'));
  const finding = async () => {
    const look = await lookAtJournal(homePaths(home));
    return look.state === 'readable' ? blobsFinding(look.facts.blobs, blobs) : undefined;
  };
  expect(await finding()).toEqual({ state: 'ok', found: 'none' });
  const refs: string[] = [];
  for (const [call, text] of [
    ['1', 'x'.repeat(100_000)],
    ['2', 'y'.repeat(100_000)],
    ['3', 'z'.repeat(5_000)],
  ] as const) {
    const ref = await journal.putBlob(text);
    refs.push(ref.blob);
    await journal.append('t', [{ event: { type: 'say', say: 'info', text: 'no ref: "blob":"' } }]);
    await journal.claimCall('t', call);
    await journal.putResult({ call, status: 'done', text: ref, excerpt: '', mistake: false }, []);
  }
  expect(await finding()).toEqual({ state: 'ok', found: 'the newest 3 are there' });
  const file = (i: number) => join(blobs, refs[i]?.slice(0, 2) ?? '', refs[i] ?? '');
  await truncate(file(0), 10);
  await rm(file(1));
  expect(await finding()).toMatchObject({
    state: 'bad',
    found: expect.stringMatching(/^of the newest 3 texts 1 missing and 1 damaged/),
    next: expect.stringContaining(blobs),
  });
  await rm(blobs, { recursive: true });
  await mkdir(blobs);
  expect((await finding())?.found).toContain('2 missing');
});

/** Overwrites what comes after the header and the schema, so that the file still opens. */
async function scribble(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes.fill(0xa5, 8192);
  await writeFile(path, bytes);
}

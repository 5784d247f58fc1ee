import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { compiled, granted, RESERVE, say, taskOf, tempHome, testJournal, textOf } from '../../test/support/journal.js';
import type { TaskEvent } from '../domain/events.js';
import { NO_USAGE } from '../domain/usage.js';
import { Superseded, WorkspaceInUse } from './journal.js';

const closed: TaskEvent = {
  type: 'closed',
  outcome: { outcome: 'cancelled' },
  totals: { turns: 0, usage: NO_USAGE, cost: 0 },
};

test('one open task a folder, also when a closed one is taken up again', async () => {
  const journal = await testJournal();
  const workspace = '/a folder/with "quotes"';
  await journal.createTask({ ...taskOf('a'), workspace });
  await journal.createTask({ ...taskOf('a'), workspace });
  await expect(journal.createTask({ ...taskOf('b'), workspace })).rejects.toMatchObject({ task: 'a', workspace });
  expect(await journal.getTask('b')).toBeUndefined();
  expect(await journal.reopenTask('a')).toBe(false);
  await journal.append('a', [{ event: closed }]);
  await journal.createTask({ ...taskOf('b'), workspace });
  await expect(journal.reopenTask('a')).rejects.toBeInstanceOf(WorkspaceInUse);
  await journal.append('b', [{ event: closed }]);
  const both = await Promise.all([journal.reopenTask('a'), journal.reopenTask('a')]);
  expect(both.sort()).toEqual([false, true]);
  expect((await journal.getTask('a'))?.status).toBe('starting');
  await expect(journal.reopenTask('none')).rejects.toMatchObject({ slug: 'journal-lost' });
});

test('of eight processes that create a task in one folder one does, also behind 1,500 other tasks', async () => {
  const home = await tempHome();
  const journal = await testJournal({ home });
  for (let i = 0; i < 1_500; i++) await journal.createTask(taskOf(`other${i}`));
  const program = await compiled('journal-writer');
  const ends = await Promise.all(
    Array.from({ length: 8 }, (_, i) => {
      const child = spawn(process.execPath, [program, home, 'create', `t${i}`], {
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      return new Promise((done) => child.once('exit', done));
    }),
  );
  expect(ends.sort()).toEqual([0, 9, 9, 9, 9, 9, 9, 9]);
  expect((await journal.listTasks()).filter(({ workspace }) => workspace === '/projects/one')).toHaveLength(1);
});

test('a task is closed from outside only while it is open in the status that was seen; nothing is written after it', async () => {
  const journal = await testJournal();
  await journal.createTask(taskOf('t'));
  const { since } = (await journal.getTask('t'))!;
  const end = { say: 'gone', outcome: { outcome: 'cancelled' } } as const;
  expect(await journal.closeIfOpen('t', since - 1, end)).toBe(false);
  expect(await journal.closeIfOpen('none', since, end)).toBe(false);
  expect(await journal.closeIfOpen('t', since, end)).toBe(true);
  const row = (await journal.getTask('t'))!;
  expect(row.status).toBe('cancelled');
  expect(await journal.closeIfOpen('t', row.since, end)).toBe(false);
  const late: TaskEvent = { type: 'status', status: 'running' };
  expect(await journal.append('t', [{ event: say('late') }, { event: late }])).toBe(2);
  expect(await journal.readEvents('t', 0)).toHaveLength(2);
  expect((await journal.getTask('t'))?.status).toBe('cancelled');
  expect(await journal.reopenTask('t')).toBe(true);
  expect(await journal.append('t', [{ event: say('again') }])).toBe(4);
});

test('closing a task from outside settles the request that runs, and whoever streams it stops', async () => {
  const journal = await testJournal();
  await journal.createTask(taskOf('t'));
  const { attempt } = await granted(journal, 't', 'u');
  await journal.putBlock('u', attempt, { index: 0, content: { type: 'text', text: 'kept' } });
  const { since } = (await journal.getTask('t'))!;
  await journal.closeIfOpen('t', since, { say: 'gone', outcome: { outcome: 'cancelled' } });
  expect(await journal.getTurn('u')).toMatchObject({
    state: 'closed',
    stop: 'interrupted',
    blocks: [{ text: 'kept' }],
  });
  await expect(
    journal.putBlock('u', attempt, { index: 1, content: { type: 'text', text: 'late' } }),
  ).rejects.toBeInstanceOf(Superseded);
  const { cost, requests } = await journal.totals('t');
  expect(requests).toBe(1);
  expect(cost).toBeGreaterThan(0);
  const last = (await journal.readEvents('t', 0)).at(-1)?.event;
  expect(last).toMatchObject({ type: 'closed', totals: { turns: 1, cost } });
});

test('a run that a reset has made fences the older one, voids what arrives, and counts on from where it stands', async () => {
  const journal = await testJournal();
  await journal.createTask(taskOf('t'));
  expect(await journal.runOf('t')).toBeNull();
  expect(await journal.enterRun('t', 'r1', null)).toBe(true);
  const claim = (run: string, dispatch: number) =>
    journal.claimTurn({ task: 't', turn: 'u', run }, null, RESERVE, { dispatch });
  expect(await claim('r1', 50)).toMatchObject({ attempt: 1 });
  await journal.claimCall('t', 'u:0', 60, 'r1');
  await journal.putBlock('u', 1, { index: 0, content: { type: 'text', text: 'old' }, say: textOf('u', 1, 0, 'old') });
  const events: TaskEvent[] = [{ type: 'say', say: 'info', text: 'reset' }];
  const enter = () => journal.enterRun('t', 'r2', 'r1', { turns: 3, events });
  expect((await Promise.all([enter(), enter(), enter()])).filter(Boolean)).toHaveLength(1);
  await expect(claim('r1', 70)).rejects.toBeInstanceOf(Superseded);
  await expect(journal.claimCall('t', 'u:0', 70, 'r1')).rejects.toBeInstanceOf(Superseded);
  await expect(journal.putBlock('u', 1, { index: 1, content: { type: 'text', text: 'x' } })).rejects.toBeInstanceOf(
    Superseded,
  );
  const log = (await journal.readEvents('t', 0)).map(({ event }) => event);
  expect(log.filter(({ type }) => type === 'retract')).toMatchObject([{ turn: 'u', attempt: 1 }]);
  expect(log.at(-1)).toEqual(events[0]);
  expect(await journal.getTask('t')).toMatchObject({ run: 'r2', turns: 3 });
  expect(await claim('r2', 5)).toMatchObject({ claim: 'granted', attempt: 2 });
  expect(await journal.claimCall('t', 'u:0', 6, 'r2')).toBe(2);
});

test('a reset opens a closed task again, unless another one works in its folder', async () => {
  const journal = await testJournal();
  const restart = { turns: 0, events: [{ type: 'status', status: 'running' } as const] };
  await journal.createTask({ ...taskOf('a'), workspace: '/w' });
  await journal.append('a', [{ event: closed }]);
  await journal.createTask({ ...taskOf('b'), workspace: '/w' });
  await expect(journal.enterRun('a', 'r', null, restart)).rejects.toBeInstanceOf(WorkspaceInUse);
  expect(await journal.runOf('a')).toBeNull();
  await journal.append('b', [{ event: closed }]);
  expect(await journal.enterRun('a', 'r', null, restart)).toBe(true);
  expect((await journal.getTask('a'))?.status).toBe('running');
});

test('profiles in use are those of open tasks and of tasks closed lately', async () => {
  const journal = await testJournal();
  const input = JSON.stringify({ settings: { profile: 'old' } });
  await journal.createTask({ ...taskOf('a'), input });
  await journal.createTask({ ...taskOf('b'), profile: 'work' });
  expect(await journal.usedProfiles(Date.now() + 1000)).toEqual(new Set(['old', 'work']));
  await journal.setProfile('b', 'home');
  await journal.append('b', [{ event: closed }]);
  expect(await journal.usedProfiles(Date.now() - 1000)).toEqual(new Set(['old', 'home']));
  expect(await journal.usedProfiles(Date.now() + 1000)).toEqual(new Set(['old']));
});

import { expect, onTestFinished, test, vi } from 'vitest';
import { taskOf, testJournal } from '../../test/support/journal.js';
import type { TaskRow } from '../journal/rows.js';
import { reconcile, reconcileAll, type WorkflowState } from './reconcile.js';

const TERMINATED: WorkflowState = { state: 'closed', how: 'cancelled' };

async function running(status: 'starting' | 'running' = 'running') {
  const journal = await testJournal();
  await journal.createTask(taskOf('t'));
  if (status !== 'starting') await journal.append('t', [{ event: { type: 'status', status } }]);
  const row = async () => (await journal.getTask('t')) as TaskRow;
  const from = (found: WorkflowState) => ({ journal, server: 'local', look: async () => found });
  return { journal, row, from };
}

test.each([
  [{ state: 'absent' } as const, { outcome: 'cancelled' }],
  [TERMINATED, { outcome: 'cancelled' }],
  [{ state: 'closed', how: 'failed' } as const, { outcome: 'failed', class: 'internal' }],
])('a task whose workflow is %j ends once, however many find it', async (found, outcome) => {
  const { journal, row, from } = await running();
  const seen = await row();
  const done = await Promise.all(Array.from({ length: 5 }, () => reconcile(from(found), seen)));
  expect(done.filter(Boolean)).toHaveLength(1);
  const closed = (await journal.readEvents('t', 0)).filter(({ event }) => event.type === 'closed');
  expect(closed.map(({ event }) => event)).toMatchObject([{ outcome }]);
  expect((await row()).status).toBe(outcome.outcome);
});

test('a task with an open workflow, of another server, or ended by now is left alone', async () => {
  const { journal, row, from } = await running();
  const seen = await row();
  expect(await reconcile(from({ state: 'open', run: 'r' }), seen)).toBe(false);
  expect(await reconcile({ ...from(TERMINATED), server: 'other:7233/default' }, seen)).toBe(false);
  expect((await row()).status).toBe('running');
  expect(await reconcile(from(TERMINATED), seen)).toBe(true);
  expect(await reconcile(from(TERMINATED), seen)).toBe(false);
  expect(await journal.reopenTask('t')).toBe(true);
  expect(await reconcile(from(TERMINATED), seen)).toBe(false);
});

test('a task whose status has changed since it was read is looked at again', async () => {
  const { journal, row, from } = await running();
  const seen = await row();
  await new Promise((done) => setTimeout(done, 5));
  await journal.append('t', [{ event: { type: 'status', status: 'waiting' } }]);
  const looks: WorkflowState[] = [TERMINATED, { state: 'open', run: 'r' }];
  expect(await reconcile({ ...from(TERMINATED), look: async () => looks.shift()! }, seen)).toBe(false);
  expect((await row()).status).toBe('waiting');
  expect(looks).toEqual([]);
  expect(await reconcile(from(TERMINATED), seen)).toBe(true);
});

test('a task that is being started has half a minute, also when it is taken up again and its last run was terminated', async () => {
  const { journal, row, from } = await running('starting');
  onTestFinished(() => void vi.useRealTimers());
  const later = async (found: WorkflowState) => {
    const { since } = await row();
    vi.useFakeTimers({ toFake: ['Date'], now: since + 31_000 });
    const done = await reconcile(from(found), await row());
    return done;
  };
  expect(await reconcile(from({ state: 'absent' }), await row())).toBe(false);
  expect(await later({ state: 'absent' })).toBe(true);
  for (let round = 0; round < 2; round++) {
    expect(await journal.reopenTask('t')).toBe(true);
    expect(await reconcile(from(TERMINATED), await row())).toBe(false);
    expect(await later(TERMINATED)).toBe(true);
  }
});

test('all open tasks are looked at, and one that cannot be does not keep the others', async () => {
  const journal = await testJournal();
  for (const id of ['a', 'b', 'c']) {
    await journal.createTask(taskOf(id));
    await journal.append(id, [{ event: { type: 'status', status: 'running' } }]);
  }
  const look = async (task: string): Promise<WorkflowState> => {
    if (task === 'b') throw new Error('unavailable');
    return TERMINATED;
  };
  await reconcileAll({ journal, server: 'local', look });
  const statuses = (await journal.listTasks()).map(({ task, status }) => `${task} ${status}`).sort();
  expect(statuses).toEqual(['a cancelled', 'b running', 'c cancelled']);
});

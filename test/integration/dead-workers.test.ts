import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { call, finish, type Step, say, stall } from '../../src/fake-model/index.js';
import { releaseDead } from '../../src/runs/dead-workers.js';
import { isAsk, isClosed, startWorld, type TestWorker, until, type World } from '../support/world.js';

/** Waits in the middle of its answer, or in a command. */
const answers: Record<'streams' | 'runs', Step[]> = {
  streams: [stall()],
  runs: [call('execute_command', { command: 'sleep 60', requires_approval: false }), finish()],
};
const activities = { streams: 'streamModel', runs: 'runTool' } as const;

describe('what a worker of this machine was doing', () => {
  let world: World;
  let worker: TestWorker;
  beforeEach(async () => {
    world = await startWorld();
    worker = await world.worker();
  });
  afterEach(() => world.stop());

  const busyWith = async (what: keyof typeof answers) => {
    const model = await world.model({ responder: () => answers[what] });
    const { task } = await world.start(model, {});
    await until(async () => (await pending(task))?.activityType?.name === activities[what]);
    return task;
  };
  const pending = async (task: string) => {
    const { raw } = await world.temporal.workflow.getHandle(task).describe();
    return raw.pendingActivities?.find(({ lastWorkerIdentity }) => lastWorkerIdentity);
  };
  const release = () => {
    const { journal, temporal: client, server } = world;
    const name = `${server.address}/${server.namespace}`;
    return releaseDead({ journal, client, host: hostname(), server: name });
  };

  it.each(['streams', 'runs'] as const)('is taken back when it has died while it %s', async (what) => {
    const task = await busyWith(what);
    expect(await release()).toBe(0);
    await worker.kill9();
    expect(await release()).toBe(1);
    expect(await pending(task)).toMatchObject({ attempt: 2, lastFailure: { message: expect.stringMatching(/died/) } });
    expect(await world.journal.liveWorkers()).toEqual([]);
    expect(await release()).toBe(0);
  });

  it('is left to it when it is only stopped', async () => {
    const task = await busyWith('streams');
    await worker.freeze();
    expect(await release()).toBe(0);
    expect(await pending(task)).toMatchObject({ attempt: 1 });
    expect(await world.journal.liveWorkers()).toHaveLength(1);
  });
});

describe('a host that dies before it hears of a cancel', () => {
  let world: World;
  let host: TestWorker;
  beforeEach(async () => {
    world = await startWorld();
    host = await world.worker({ role: 'host' });
    await world.worker({ role: 'workflow' });
  });
  afterEach(() => world.stop());

  const historyOf = async (task: string) => (await world.temporal.workflow.getHandle(task).fetchHistory()).events ?? [];
  /** Does what makes the workflow cancel, kills the host, and starts another one. */
  const dieIn = async (task: string, cancel: () => Promise<unknown>) => {
    await host.freeze();
    await cancel();
    await until(async () => (await historyOf(task)).some((one) => one.activityTaskCancelRequestedEventAttributes));
    await host.kill9();
    await world.worker({ role: 'host' });
  };

  it('does not make a failure of an aborted task', async () => {
    const model = await world.model({ responder: () => answers.runs });
    const { task } = await world.start(model, {});
    const handle = world.temporal.workflow.getHandle(task);
    await until(async () =>
      (await historyOf(task)).some((one) => one.activityTaskScheduledEventAttributes?.activityType?.name === 'runTool'),
    );
    await dieIn(task, () => handle.cancel());
    expect((await world.event(task, isClosed)).outcome).toEqual({ outcome: 'cancelled' });
    await until(async () => (await handle.describe()).status.name === 'CANCELLED');
  });

  it('does not end a task whose call was refused', async () => {
    const asked: Step[] = [call('write_to_file', { path: 'f', content: 'new' }), say('and'), stall()];
    const done: Step[] = [call('attempt_completion', { result: 'done' }), finish()];
    const model = await world.model({ responder: ({ turn }) => (turn === 0 ? asked : done) });
    const policy = { yolo: false, approve: [...DEFAULT_APPROVALS] };
    const { task, client } = await world.start(model, { policy });
    const { ask } = await world.event(task, isAsk);
    await dieIn(task, () => client.answer(task, { ask: ask.id, answer: 'no' }));
    expect((await world.event(task, isClosed)).outcome.outcome).toBe('completed');
    expect(model.refused()).toEqual([]);
  });
});

import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call, finish, type Step, stall } from '../../src/fake-model/index.js';
import { releaseDead } from '../../src/runs/dead-workers.js';
import { startWorld, type TestWorker, until, type World } from '../support/world.js';

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
    worker.signal('SIGSTOP');
    expect(await release()).toBe(0);
    expect(await pending(task)).toMatchObject({ attempt: 1 });
    expect(await world.journal.liveWorkers()).toHaveLength(1);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskClient } from '../../src/client.js';
import { LonghaulError } from '../../src/domain/errors.js';
import { DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { finish, type Responder, status } from '../../src/fake-model/index.js';
import { command, completes, ended, question } from '../support/resuming.js';
import { isAsk, modelEnv, startWorld, type TestWorker, until, type World } from '../support/world.js';

const POLICY = { yolo: false, approve: [...DEFAULT_APPROVALS, 'all' as const] };
const waits: Responder = ({ turn }) => [turn === 0 ? question('Which?') : completes('end'), finish()];
const commands = ['pause', 'unpause', 'mode', 'budget', 'rewind', 'resume'] as const;
type CommandName = (typeof commands)[number];

const act: Record<CommandName, (client: TaskClient, task: string) => Promise<unknown>> = {
  pause: (client, task) => client.pause(task),
  unpause: (client, task) => client.unpause(task),
  mode: (client, task) => client.setMode(task, 'plan'),
  budget: (client, task) => client.setLimits(task, { maxTurns: 50 }),
  rewind: (client, task) => client.rewind(task, 1),
  resume: (client, task) => client.resume(task),
};
const slugOf = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (err: unknown) => (LonghaulError.is(err) ? err.slug : String(err)),
  );

describe('each command in each state of a task', () => {
  let world: World;
  let worker: TestWorker;
  beforeAll(async () => {
    world = await startWorld();
    worker = await world.worker();
  });
  afterAll(() => world.stop());

  const begin = async (responder: Responder) => {
    const model = await world.model({ responder });
    return { model, ...(await world.start(model, { policy: POLICY })) };
  };
  const waiting = async () => {
    const begun = await begin(waits);
    await world.event(begun.task, isAsk);
    return begun;
  };

  const states = {
    running: async () => {
      const begun = await begin(({ turn }) => [turn === 0 ? command('sleep 300') : question('Which?'), finish()]);
      await world.seen(begun.task, (event) => event.type === 'say' && event.say === 'command');
      return begun;
    },
    waiting,
    parked: async () => {
      const begun = await begin(() => [status(429, { 'retry-after': '3600' })]);
      await world.seen(begun.task, (event) => event.type === 'status' && event.status === 'parked');
      return begun;
    },
    paused: async () => {
      const begun = await waiting();
      await begun.client.pause(begun.task);
      await begun.client.answer(begun.task, { answer: 'message', text: 'this' });
      await until(async () => (await world.journal.getTask(begun.task))?.status === 'paused');
      return begun;
    },
    completed: async () => {
      const begun = await begin(({ turn }) => [turn < 1 ? completes('end') : question('Which?'), finish()]);
      await ended(world, begun.task);
      return begun;
    },
    cancelled: async () => {
      const begun = await waiting();
      await begun.client.abort(begun.task);
      await ended(world, begun.task);
      return begun;
    },
    terminated: async () => {
      const begun = await waiting();
      await world.temporal.workflow.getHandle(begun.task).terminate();
      return begun;
    },
    unknown: async () => ({ ...(await waiting()), task: 'nosuchtask' }),
  };
  const open = { mode: 'done', budget: 'done', resume: 'task-state' };
  const closed = {
    ...{ pause: 'task-closed', unpause: 'task-closed', mode: 'task-closed' },
    ...{ budget: 'done', rewind: 'done', resume: 'done' },
  };
  const going = { ...open, pause: 'done', unpause: 'task-state' };
  const table: Record<keyof typeof states, Record<CommandName, string>> = {
    running: { ...going, rewind: 'done' },
    waiting: { ...going, rewind: 'done' },
    parked: { ...going, rewind: 'message-not-found' },
    paused: { ...open, pause: 'task-state', unpause: 'done', rewind: 'done' },
    completed: closed,
    cancelled: closed,
    terminated: closed,
    unknown: Object.fromEntries(commands.map((name) => [name, 'task-not-found'])) as Record<CommandName, string>,
  };

  it.each(Object.keys(table) as (keyof typeof states)[])(
    '%s',
    async (state) => {
      const tried = commands.map(async (name) => {
        const { task, client } = await states[state]();
        const came = await slugOf(act[name](client, task));
        if (task !== 'nosuchtask') await client.abort(task).catch(() => undefined);
        return [name, came];
      });
      expect(Object.fromEntries(await Promise.all(tried))).toEqual(table[state]);
    },
    60_000,
  );

  it('says on the command line what to do instead, with its exit code', async () => {
    const { task, model } = await states.completed();
    const env = modelEnv({}, model);
    const pause = await world.cli(['pause', task], { env });
    expect(pause).toMatchObject({ code: 1, err: expect.stringContaining(`resume ${task}`) });
    const { task: other } = await states.waiting();
    const resume = await world.cli(['resume', other, '--json'], { env });
    expect(resume).toMatchObject({ code: 1, lines: [{ type: 'error', slug: 'task-state' }] });
    expect(resume.err).toContain('show');
    const budget = await world.cli(['budget', other, '--max-turns', '7', '--max-cost', '2', '--json'], { env });
    expect(budget.lines[0]).toMatchObject({ type: 'budget', limits: { maxTurns: 7, maxCost: 2 }, state: 'applied' });
    await world.cli(['budget', other, '--no-max-cost', '--soft-limit', '80'], { env });
    const shown = await world.cli(['show', other, '--json'], { env });
    expect(shown.lines[0]).toMatchObject({ limits: { maxTurns: 7, softPercent: 80 }, used: { turns: 1 }, mode: 'act' });
    expect((await world.cli(['budget', other], { env })).out).toMatch(/^1 of 7 turns · asks at 80 %/);
    expect((await world.cli(['mode', other, 'maybe'], { env })).code).toBe(2);
    const inside = { ...env, LONGHAUL_CALL: 'c:0', LONGHAUL_TASK: other };
    for (const words of [['pause'], ['unpause'], ['mode', 'act'], ['budget'], ['rewind'], ['resume']]) {
      const [name = '', ...rest] = words;
      const { err } = await world.cli([name, other, ...rest], { env: inside });
      expect(err).toContain('inside-task');
    }
    await world.cli(['abort', other], { env });
  }, 60_000);

  it('without a worker: refused, and not done later either', async () => {
    const { task, client } = await states.waiting();
    await worker.stop();
    const names = ['pause', 'mode', 'budget', 'rewind'] as const;
    expect(await Promise.all(names.map((name) => slugOf(act[name](client, task))))).toEqual(
      names.map(() => 'service-busy'),
    );
    worker = await world.worker();
    await client.answer(task, { answer: 'message', text: 'this' });
    expect((await ended(world, task)).outcome).toBe('completed');
    const types = (await world.events(task)).map(({ event }) => event.type);
    expect(types.filter((type) => ['pause', 'mode', 'limits', 'rewound'].includes(type))).toEqual([]);
  }, 60_000);

  it('while Temporal is away', async () => {
    const { task, model } = await states.waiting();
    const clients = await Promise.all(commands.map(async (name) => ({ name, client: await world.client(model) })));
    await world.server.kill9();
    const slugs = await Promise.all(clients.map(({ name, client }) => slugOf(act[name](client, task))));
    expect(slugs).toEqual(commands.map(() => 'temporal-unreachable'));
    await world.server.restart();
  }, 60_000);
});

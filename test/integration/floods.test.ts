import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LonghaulError } from '../../src/domain/errors.js';
import { call, finish, type Responder } from '../../src/fake-model/index.js';
import { historiesOf } from '../support/histories.js';
import { done } from '../support/playing.js';
import { seeded } from '../support/random.js';
import { isClosed, startWorld, until, type World } from '../support/world.js';

const SEED = Number(process.env.LONGHAUL_TEST_SEED) || 20_261_201;
const MESSAGES = 150;
const TASKS = 20;

describe(`many things at once (LONGHAUL_TEST_SEED=${SEED})`, () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  it('messages that keep coming over turns and hand-overs are each delivered once, in order, when the sender heard so', async () => {
    let over = false;
    // three edits a turn fill a run in some 75 turns
    const busy: Responder = ({ turn }) =>
      over ? done : [...[0, 1, 2].map((at) => call('write_to_file', { path: `f${at}`, content: `${turn}` })), finish()];
    const model = await world.model({ responder: busy });
    const { task, client } = await world.start(model, {});
    const taken: string[] = [];
    const runs = async () => (await historiesOf(world.temporal, task)).length;
    for (let n = 0; n < MESSAGES || (await runs()) < 2; n++) {
      const token = `token-${n};`;
      const heard = await client.send(task, token).then(
        () => true,
        (err: unknown) => {
          // so many wait already: said so, and not taken
          if (LonghaulError.is(err) && err.slug === 'task-busy') return false;
          throw err;
        },
      );
      if (heard) taken.push(token);
      await sleep(20);
    }
    over = true;
    await world.event(task, isClosed, 60_000);
    expect(model.refused()).toEqual([]);
    const events = (await world.events(task)).map(({ event }) => event);
    const shown = events.flatMap((event) =>
      event.type === 'say' && event.say === 'user_feedback' ? [event.text] : [],
    );
    expect(shown).toEqual(taken);
    expect(taken.length).toBeGreaterThan(50);
    const messages = await client.messages(task);
    expect(messages.filter(({ role }) => role === 'user').length).toBeGreaterThan(10);
    for (const { history } of await historiesOf(world.temporal, task)) {
      expect(history.events?.some((event) => event.workflowTaskFailedEventAttributes)).toBe(false);
    }
  }, 180_000);

  it('aborts around the end of what a task is doing all close it, and no workflow task fails', async () => {
    const random = seeded(SEED);
    const model = await world.model({
      responder: ({ turn }) => [
        call('execute_command', { command: `echo ${turn}`, requires_approval: false }),
        finish(),
      ],
    });
    const tasks = await Promise.all(Array.from({ length: TASKS }, () => world.start(model, {})));
    await Promise.all(
      tasks.map(async ({ task, client }) => {
        await world.seen(task, (event) => event.type === 'say' && event.say === 'command');
        await sleep(random() * 300);
        await client.abort(task);
      }),
    );
    for (const { task } of tasks) {
      const { outcome } = await world.event(task, isClosed, 60_000);
      expect(outcome.outcome).toBe('cancelled');
      const state = await until(async () => {
        const { status } = await world.temporal.workflow.getHandle(task).describe();
        return status.name === 'RUNNING' ? undefined : status.name;
      });
      expect(state).toBe('CANCELLED');
      for (const { history } of await historiesOf(world.temporal, task)) {
        expect(history.events?.some((event) => event.workflowTaskFailedEventAttributes)).toBe(false);
      }
    }
  }, 120_000);
});

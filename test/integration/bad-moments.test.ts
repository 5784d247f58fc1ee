import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LonghaulError } from '../../src/domain/errors.js';
import { call, type FakeModel, finish, type Step, say } from '../../src/fake-model/index.js';
import { answers, completed, play } from '../support/playing.js';
import { resultsOf } from '../support/requests.js';
import { isAsk, isClosed, startWorld, type TestWorker, until, type World } from '../support/world.js';

const ASKS = { policy: { yolo: false, approve: ['read' as const] } };
const command = (text: string): Step => call('execute_command', { command: text, requires_approval: false });

describe('what a person says at a bad moment', () => {
  let world: World;
  let worker: TestWorker;
  beforeAll(async () => {
    world = await startWorld();
    worker = await world.worker();
  });
  afterAll(() => world.stop());

  const restart = async () => {
    await worker.kill9();
    worker = await world.worker();
  };

  /** How often a text is in the conversation as it was sent last. */
  const timesIn = (model: FakeModel, token: string) =>
    JSON.stringify(model.requests.at(-1)?.body).split(token).length - 1;

  it('a denial before, in the middle of or after a restart of the worker is one, and the model hears of it', async () => {
    for (const moment of ['before', 'between', 'after'] as const) {
      const task = await play(
        world,
        answers([command('touch one'), command('touch two'), finish()], [command('touch three'), finish()]),
        ASKS,
      );
      const deny = async (at: number) => {
        const ask = await until(async () =>
          (await world.events(task.task))
            .map(({ event }) => event)
            .filter(isAsk)
            .at(at),
        );
        await task.client.answer(task.task, { ask: ask.ask.id, answer: 'no' });
      };
      if (moment === 'before') {
        await world.event(task.task, isAsk);
        await restart();
      }
      await deny(0);
      if (moment === 'between') await restart();
      await deny(1);
      if (moment === 'after') await restart();
      await completed(world, task);
      const [first, second] = [1, 2].map((at) => resultsOf(task.model.requests.at(at - 3)?.body));
      expect(first?.map(({ error }) => error)).toEqual([true, true]);
      expect(first?.[0]?.text).toContain('denied');
      expect(second?.[0]?.text).toContain('denied');
      expect(['one', 'two', 'three'].some((name) => existsSync(join(task.workspace, name)))).toBe(false);
    }
  });

  it('a message during a command or an approval is in the next request, once', async () => {
    const task = await play(world, answers([command('sleep 1'), finish()], [command('true'), finish()]), ASKS);
    const tokens = [randomUUID(), randomUUID()];
    const { ask } = await world.event(task.task, isAsk);
    await task.client.send(task.task, tokens[0]!);
    await task.client.answer(task.task, { ask: ask.id, answer: 'yes' });
    await world.seen(task.task, (event) => event.type === 'say' && event.say === 'command');
    await task.client.send(task.task, tokens[1]!);
    const second = await until(async () =>
      (await world.events(task.task))
        .map(({ event }) => event)
        .filter(isAsk)
        .at(1),
    );
    for (const token of tokens) expect(timesIn(task.model, token)).toBe(1);
    await task.client.answer(task.task, { ask: second.ask.id, answer: 'yes' });
    await completed(world, task);
    for (const token of tokens) expect(timesIn(task.model, token)).toBe(1);
  });

  it('a message just before the task is complete is in a request, once, or takes the task up again', async () => {
    await Promise.all(
      [0, 10, 20, 30, 40, 60, 90].map(async (ms) => {
        const model = await world.model({
          responder: ({ turn }) => [say('So.'), call('attempt_completion', { result: `end ${turn}` }), finish()],
        });
        const { task, client } = await world.start(model, {});
        await world.seen(task, (event) => event.type === 'say' && event.say === 'text');
        await sleep(ms);
        const token = randomUUID();
        const { state } = await client.send(task, token);
        await until(async () => timesIn(model, token) > 0);
        const ends = state === 'follow_up' ? 2 : 1;
        await until(async () => (await world.events(task)).filter(({ event }) => isClosed(event)).length >= ends);
        expect(timesIn(model, token)).toBe(1);
        expect(model.refused()).toEqual([]);
      }),
    );
  });

  it('a message just before an abort is refused loudly, or is there once when the task is taken up again', async () => {
    await Promise.all(
      [0, 5, 20, 50].map(async (ms) => {
        const task = await play(world, answers([command('sleep 60'), finish()]));
        await world.seen(task.task, (event) => event.type === 'say' && event.say === 'command');
        const token = randomUUID();
        const aborting = sleep(ms).then(() => task.client.abort(task.task));
        const sent = await task.client.send(task.task, token).then(
          ({ state }) => state,
          (err: unknown) => {
            expect(LonghaulError.is(err)).toBe(true);
            return 'refused' as const;
          },
        );
        await aborting.catch(() => undefined);
        await world.event(task.task, isClosed);
        if (sent === 'queued') await task.client.send(task.task, 'Go on.');
        if (sent !== 'refused') {
          await until(async () => timesIn(task.model, token) > 0);
          await until(async () => (await world.journal.getTask(task.task))?.status === 'completed');
        }
        expect(timesIn(task.model, token)).toBe(sent === 'refused' ? 0 : 1);
        expect(task.model.refused()).toEqual([]);
      }),
    );
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskSettings } from '../../src/domain/task.js';
import { call, finish, type Responder, status } from '../../src/fake-model/index.js';
import type { Journal } from '../../src/journal/journal.js';
import { type SkippingWorld, startSkippingWorld } from '../support/time-skipping.js';

const DAY_S = 24 * 3600;
const DAY_MS = DAY_S * 1000;

const completes: Responder = () => [call('attempt_completion', { result: 'done' }), finish()];

/** Waits of days pass in no time on the time-skipping server; all else is as ever. */
describe('long waits', () => {
  let world: SkippingWorld;
  let env: SkippingWorld['env'];
  let journal: Journal;
  beforeAll(async () => {
    world = await startSkippingWorld();
    ({ env, journal } = world);
  });
  afterAll(() => world?.stop());

  const start = async (responder: Responder, more: Partial<TaskSettings> = {}) => {
    const model = await world.model(responder);
    return { model, ...(await world.start(model.url, more)) };
  };
  const statuses = async (task: string) =>
    (await journal.readEvents(task, 0)).flatMap(({ event }) => (event.type === 'status' ? [event.status] : []));

  it('a usage limit of three days parks the task until it is over, then it goes on by itself', async () => {
    const limit = status(429, { 'retry-after': String(3 * DAY_S) }, 1);
    const { handle, began, task } = await start((request) => [limit, ...completes(request)!]);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect((await env.currentTimeMs()) - began).toBeGreaterThanOrEqual(3 * DAY_MS);
    expect(await statuses(task)).toEqual(['running', 'parked', 'running']);
  });

  it('an outage is tried three times at once, then looked at from time to time, for as long as it lasts', async () => {
    const { handle, model, task } = await start((request) => [status(529, {}, 8), ...completes(request)!]);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(model.requests).toHaveLength(9);
    const events = (await journal.readEvents(task, 0)).map(({ event }) => event);
    const delays = events.flatMap((event) =>
      event.type === 'say' && event.say === 'error_retry' ? [event.delayMs] : [],
    );
    expect(delays).toEqual([2_000, 4_000, 8_000]);
    const waits = events.flatMap((event) =>
      event.type === 'ask' && event.ask.deadline ? [Math.round((event.ask.deadline - event.ask.opened) / 60_000)] : [],
    );
    expect(waits).toEqual([1, 2, 4, 8, 15]);
  });

  it('a question may wait for days before it is answered', async () => {
    const { handle } = await start(
      (request) =>
        request.turn === 0 ? [call('ask_followup_question', { question: 'Which?' }), finish()] : completes(request),
      { policy: { yolo: false, approve: [] } },
    );
    await env.sleep('30 days');
    await handle.executeUpdate('answer', { args: ['the second one'] });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  });

  it('the limit on wall time ends a task that waits for a person', async () => {
    const { handle, task } = await start(() => [call('ask_followup_question', { question: 'Which?' }), finish()], {
      policy: { yolo: false, approve: [] },
      limits: { maxTimeMs: 2 * DAY_MS },
    });
    expect(await handle.result()).toMatchObject({ outcome: 'budget', limit: 'time' });
    const events = (await journal.readEvents(task, 0)).map(({ event }) => event.type);
    expect(events.filter((type) => type === 'ask' || type === 'ask_closed')).toEqual(['ask', 'ask_closed']);
  });

  it('a parked task can be cut short by a person, and ended', async () => {
    const limit = status(429, { 'retry-after': String(3 * DAY_S) }, 1);
    const { handle, task } = await start((request) => [limit, ...completes(request)!]);
    while (!(await statuses(task)).includes('parked')) await new Promise((done) => setTimeout(done, 50));
    await handle.executeUpdate('answer', { args: ['yes'] });
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    const closed = (await journal.readEvents(task, 0))
      .map(({ event }) => event)
      .find(({ type }) => type === 'ask_closed');
    expect(closed).toMatchObject({ by: 'person', answer: 'yes' });

    const other = await start(() => [status(401)]);
    while (!(await statuses(other.task)).includes('waiting')) await new Promise((done) => setTimeout(done, 50));
    await other.handle.executeUpdate('answer', { args: ['no'] });
    await expect(other.handle.result()).rejects.toMatchObject({ cause: { type: 'provider' } });
    expect((await journal.getTask(other.task))?.status).toBe('failed');
  });
});

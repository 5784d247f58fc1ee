import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskSettings } from '../../src/domain/settings.js';
import { call, type FakeModel, finish, type Responder, status } from '../../src/fake-model/index.js';
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

  describe('an ask that nobody answers', () => {
    const ASKS = { all: { deadlineMs: 3 * DAY_MS, remindMs: DAY_MS } };
    const ASKING = { policy: { yolo: false, approve: [] }, asks: ASKS };
    const firstTurn =
      (tool: string, input: Record<string, unknown>): Responder =>
      (request) =>
        request.turn === 0 ? [call(tool, input), finish()] : completes(request);
    const asksFirst = firstTurn('ask_followup_question', { question: 'Which?' });
    const runsFirst = firstTurn('execute_command', { command: 'touch ran', requires_approval: true });

    const askEvents = async (task: string) =>
      (await journal.readEvents(task, 0)).flatMap(({ at, event }) =>
        event.type === 'ask' || event.type === 'ask_reminder' || event.type === 'ask_closed' ? [{ ...event, at }] : [],
      );
    const askOf = async (task: string) => {
      for (;;) {
        const [asked] = await askEvents(task);
        if (asked?.type === 'ask') return asked.ask;
        await new Promise((done) => setTimeout(done, 50));
      }
    };
    const resultOf = ({ requests }: FakeModel) => {
      const { messages } = requests[1]!.body as { messages: unknown[] };
      return JSON.stringify(messages.at(-1));
    };

    it('is asked about again each day, and its default is taken at its deadline', async () => {
      const { handle, task, workspace, model, began } = await start(runsFirst, ASKING);
      expect(await handle.result()).toMatchObject({ outcome: 'completed' });
      expect((await env.currentTimeMs()) - began).toBeGreaterThanOrEqual(3 * DAY_MS);
      const events = await askEvents(task);
      expect(events.map(({ type }) => type)).toEqual(['ask', 'ask_reminder', 'ask_reminder', 'ask_closed']);
      expect(events.at(0)).toMatchObject({ ask: { kind: 'command', default: 'no', remindMs: DAY_MS } });
      expect(events.at(1)).toMatchObject({ count: 1 });
      expect(events.at(-1)).toMatchObject({ by: 'default', answer: 'no' });
      expect(resultOf(model)).toContain('The person denied this call.');
      expect(existsSync(join(workspace, 'ran'))).toBe(false);
    });

    it('is answered with "yes" where the policy says so for its kind, and the call is carried out', async () => {
      const asks = { ...ASKS, command: { deadlineMs: DAY_MS, default: 'yes' as const } };
      const { handle, workspace } = await start(runsFirst, { ...ASKING, asks });
      expect(await handle.result()).toMatchObject({ outcome: 'completed' });
      expect(existsSync(join(workspace, 'ran'))).toBe(true);
    });

    it('that is a question: the model is told that nobody answers', async () => {
      const { handle, model } = await start(asksFirst, ASKING);
      expect(await handle.result()).toMatchObject({ outcome: 'completed' });
      expect(resultOf(model)).toContain('Nobody answers questions in this task');
    });

    it('that is the mistake limit: the task ends', async () => {
      const { handle, task } = await start(() => [call('no_such_tool', {}), finish()], ASKING);
      await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'mistake_limit' } });
      expect((await askEvents(task)).at(-1)).toMatchObject({ by: 'default', answer: 'no' });
    });

    it('is reminded of a hundred times at most', async () => {
      const asks = { all: { deadlineMs: 30 * DAY_MS, remindMs: 3_600_000 } };
      const { handle, task } = await start(asksFirst, { ...ASKING, asks });
      expect(await handle.result()).toMatchObject({ outcome: 'completed' });
      const events = await askEvents(task);
      expect(events.filter(({ type }) => type === 'ask_reminder')).toHaveLength(100);
      const { historyLength } = await handle.describe();
      expect(historyLength).toBeLessThan(1_500);
    });

    it('takes an answer just before its deadline, and none after it', async () => {
      const early = await start(asksFirst, ASKING);
      const ask = await askOf(early.task);
      await env.sleep(ask.deadline! - (await env.currentTimeMs()) - 60_000);
      const answer = { ask: ask.id, answer: 'message', text: 'the second one', who: 'Ada', from: 'web' };
      await early.handle.executeUpdate('answer', { args: [answer] });
      await early.handle.result();
      expect(resultOf(early.model)).toContain('the second one');
      expect((await askEvents(early.task)).at(-1)).toMatchObject({ by: 'person', who: 'Ada', from: 'web' });

      const late = await start(
        (request) =>
          request.turn < 2 ? [call('ask_followup_question', { question: 'Which?' }), finish()] : completes(request),
        { ...ASKING, asks: { all: { deadlineMs: DAY_MS } } },
      );
      const first = await askOf(late.task);
      await env.sleep(1.5 * DAY_MS);
      const tooLate = late.handle.executeUpdate('answer', { args: [{ ask: first.id, answer: 'yes' }] });
      await expect(tooLate).rejects.toMatchObject({
        cause: { message: `Ask ${first.id} has been answered already.` },
      });
      await late.handle.result();
    });
  });
});

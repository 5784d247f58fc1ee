import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/domain/events.js';
import { type Responder, status } from '../../src/fake-model/index.js';
import { SEARCH_STATUS } from '../../src/workflows/definitions.js';
import { completed, done, play } from '../support/playing.js';
import { isAsk, isClosed, startWorld, type TestWorker, until, type World } from '../support/world.js';

const HOUR_S = 3_600;
/** Only the first request of all meets the limit. */
const limited = (): Responder => {
  let first = true;
  return () => {
    const answer = first ? [status(429, { 'retry-after': String(HOUR_S) })] : done;
    first = false;
    return answer;
  };
};
const isParked = (event: TaskEvent): event is Extract<TaskEvent, { type: 'status' }> =>
  event.type === 'status' && event.status === 'parked';

describe('a parked task', () => {
  let world: World;
  let worker: TestWorker;
  beforeAll(async () => {
    world = await startWorld();
    worker = await world.worker();
  });
  afterAll(() => world.stop());

  const shown = async (task: string) => (await world.cli(['show', task, '--json'])).lines[0];
  const listed = async (task: string) => {
    const found: string[] = [];
    for await (const { workflowId } of world.temporal.workflow.list({ query: `${SEARCH_STATUS.name} = "parked"` })) {
      found.push(workflowId);
    }
    return found.includes(task);
  };

  it('says until when, everywhere, and is still parked when worker and server were killed and came back', async () => {
    const task = await play(world, limited());
    const { until: at = 0 } = await world.event(task.task, isParked);
    const iso = new Date(at).toISOString();
    const details = async () => (await world.temporal.workflow.getHandle(task.task).describe()).status.name;
    const look = async () => {
      expect(await shown(task.task)).toMatchObject({ status: 'parked', parkedUntil: iso });
      expect((await world.cli(['show', task.task])).out).toMatch(/parked until .*, for/);
      expect(await details()).toBe('RUNNING');
      await until(() => listed(task.task));
      const state = await world.temporal.workflow.getHandle(task.task).query<{ parkedUntil: number }>('status');
      expect(state.parkedUntil).toBe(at);
      expect((await world.cli(['log', task.task])).out).toMatch(/parked until/);
    };
    expect(Math.abs(at - Date.now() - HOUR_S * 1000)).toBeLessThan(60_000);
    await look();
    await worker.kill9();
    await world.server.kill9();
    await world.server.restart();
    worker = await world.worker();
    await look();
    expect(task.model.requests).toHaveLength(1);
    const answered = await world.cli(['answer', task.task, 'yes']);
    expect(answered.code, answered.err).toBe(0);
    await completed(world, task);
    expect(task.model.requests).toHaveLength(2);
    expect(await shown(task.task)).toMatchObject({ status: 'completed', parkedUntil: null });
  });

  it('goes on at once with what a person says, and ends when a person says so', async () => {
    const told = await play(world, limited());
    const { ask } = await world.event(told.task, isAsk);
    await told.client.answer(told.task, { ask: ask.id, answer: 'message', text: 'use less: token-31' });
    await completed(world, told);
    expect(JSON.stringify(told.model.requests[1]?.body)).toContain('token-31');
    const ended = await play(world, limited());
    await ended.client.answer(ended.task, { ask: (await world.event(ended.task, isAsk)).ask.id, answer: 'no' });
    expect((await world.event(ended.task, isClosed)).outcome).toMatchObject({ outcome: 'failed', class: 'provider' });
    expect(ended.model.requests).toHaveLength(1);
  });

  it('from its first request on: a run that leaves at asks leaves, and says when it goes on', async () => {
    const model = await world.model({ responder: limited() });
    const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'test-key' };
    const json = await world.cli(['run', 'Do it.', '--yolo', '--json', '--workspace', world.workspace()], { env });
    expect(json.code).toBe(3);
    const outcome = json.lines.at(-1);
    expect(outcome).toMatchObject({ type: 'outcome', outcome: 'needs_human' });
    expect(Date.parse(String(outcome?.until))).toBeGreaterThan(Date.now() + HOUR_S * 900);
    const task = String(outcome?.task);
    await world.cli(['answer', task, 'yes'], { env });
    await world.event(task, isClosed);
    const other = await world.model({ responder: limited() });
    const text = await world.cli(['run', 'Do it.', '--yolo', '--workspace', world.workspace()], {
      env: { ...env, ANTHROPIC_BASE_URL: other.url },
    });
    expect([text.code, text.out]).toEqual([3, expect.stringContaining('goes on by itself at')]);
  });
});

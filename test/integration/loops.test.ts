import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, finish, type Step } from '../../src/fake-model/index.js';
import { answers, completed, done, play } from '../support/playing.js';
import { lastTexts } from '../support/requests.js';
import { isAsk, isClosed, startWorld, until, type World } from '../support/world.js';

const APPROVED = { yolo: false, approve: ['read' as const, 'all' as const] };

const a: Step = call('read_file', { path: 'a.txt' });
const b: Step = call('read_file', { path: 'b.txt', start_line: 1 });
const other: Step = call('list_files', { path: '.' });

describe('calls that repeat themselves', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const workspace = () => world.workspace({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const warned = (bodies: readonly { body: unknown }[]) =>
    bodies.map(({ body }) => lastTexts(body).some((text) => text.includes('the same calls')));
  const runs = (...turns: Step[][]) =>
    play(world, answers(...turns.map((steps) => [...steps, finish()])), { policy: APPROVED, workspace: workspace() });

  it('are told to the model once, at the third, whatever else is in the answers', async () => {
    const progress = call('read_file', { path: 'a.txt', task_progress: '- [ ] read' });
    const task = await runs([a], [progress], [a], [a], [other], [a]);
    await completed(world, task);
    expect(warned(task.model.requests)).toEqual([false, false, false, true, false, false, false]);
  });

  it('stop the task at the fifth although each succeeded, and a person sets it going again', async () => {
    const task = await runs([a, a], [a, a], [a], [a], [other]);
    const { ask } = await world.event(task.task, isAsk);
    expect(ask.kind).toBe('mistake_limit_reached');
    expect(task.model.requests).toHaveLength(3);
    await task.client.answer(task.task, { ask: ask.id, answer: 'message', text: 'read b.txt' });
    await completed(world, task);
    const last = lastTexts(task.model.requests[3]?.body).join('\n');
    expect(last).toContain('<feedback>\nread b.txt\n</feedback>');
    expect(warned(task.model.requests)[3]).toBe(false);
  });

  it('are seen also when they are a few in turn', async () => {
    const task = await runs([a], [b], [a], [b], [a], [b], [a], [b], [a], [b], [a]);
    const { ask } = await world.event(task.task, isAsk);
    expect(ask.kind).toBe('mistake_limit_reached');
    expect(task.model.requests).toHaveLength(10);
    expect(warned(task.model.requests).indexOf(true)).toBe(6);
    await task.client.answer(task.task, { ask: ask.id, answer: 'no' });
    expect((await world.event(task.task, isClosed)).outcome).toMatchObject({
      outcome: 'failed',
      class: 'mistake_limit',
    });
  });

  it('end a task that nobody watches', async () => {
    const model = await world.model({ responder: () => [a, finish()] });
    const { task } = await world.start(model, { workspace: workspace() });
    const { outcome } = await world.event(task, isClosed);
    expect(outcome).toMatchObject({ outcome: 'failed', class: 'mistake_limit' });
    expect(model.requests).toHaveLength(5);
  });

  it('are counted across a hand-over to a new run', async () => {
    const slow = call('execute_command', { command: 'sleep 2', requires_approval: false });
    const task = await play(world, ({ turn }) => (turn < 9 ? [slow, finish()] : done), { policy: APPROVED });
    const handle = world.temporal.workflow.getHandle(task.task);
    const first = (await handle.describe()).runId;
    await world.seen(task.task, (event) => event.type === 'say' && event.say === 'command');
    // history grows by what people do as well
    const nudge = () => handle.signal('answer', { ask: 'ask-none', answer: 'yes' });
    while ((await handle.describe()).runId === first) await Promise.all(Array.from({ length: 20 }, nudge));
    const { ask } = await until(
      async () => (await world.events(task.task)).map(({ event }) => event).find(isAsk),
      60_000,
    );
    expect(ask.kind).toBe('mistake_limit_reached');
    expect(task.model.requests).toHaveLength(5);
    await task.client.abort(task.task);
  }, 90_000);
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StartRequest } from '../../src/client.js';
import type { TaskEvent } from '../../src/domain/events.js';
import { call, finish } from '../../src/fake-model/index.js';
import { answers, completed, play } from '../support/playing.js';
import { resultsOf } from '../support/requests.js';
import { isAsk, startWorld, type World } from '../support/world.js';

const SAFE = { yolo: false, approve: ['read' as const, 'safe' as const] };
const YOLO = { yolo: true, approve: [] };

describe('commands of a task', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const folder = () => world.workspace({ 'canary.txt': 'alive\n' });
  const command = (text: string, more = {}) => call('execute_command', { command: text, ...more });
  const runs = async (request: Partial<StartRequest>, ...commands: ReturnType<typeof call>[]) => {
    const workspace = folder();
    const task = await play(world, answers(...commands.map((one) => [one]), [finish()]), { ...request, workspace });
    return { ...task, canary: () => existsSync(join(workspace, 'canary.txt')) };
  };

  it('that only read run unasked with --approve safe; the model is no judge of others', async () => {
    const safe = command('ls && cat canary.txt', { requires_approval: false });
    const task = await runs({ policy: SAFE }, safe, command('ls && rm canary.txt', { requires_approval: false }));
    const { ask } = await world.event(task.task, isAsk);
    expect(ask).toMatchObject({ kind: 'command', detail: { text: 'ls && rm canary.txt' } });
    expect(ask.question).toContain('`rm canary.txt`: it is not known to only read.');
    expect(resultsOf(task.model.requests[1]?.body)[0]?.text).toContain('alive');
    expect(task.canary()).toBe(true);
    await task.client.answer(task.task, { ask: ask.id, answer: 'yes' });
    await completed(world, task);
    expect(task.canary()).toBe(false);
  });

  it('that the model itself thinks dangerous are asked about', async () => {
    const task = await runs({ policy: SAFE }, command('ls', { requires_approval: 'true' }));
    const { ask } = await world.event(task.task, isAsk);
    expect(ask.question).toContain('The model itself says that it needs approval.');
    await task.client.answer(task.task, { ask: ask.id, answer: 'yes' });
    await completed(world, task);
  });

  it('that a rule forbids never run, and nobody is asked, also under --yolo', async () => {
    const commands = { deny: ['rm *'] };
    const task = await runs({ policy: YOLO, commands }, command("ls; env bash -c 'rm canary.txt'"));
    await completed(world, task);
    const [result] = resultsOf(task.model.requests[1]?.body);
    expect(result).toMatchObject({ error: true, text: expect.stringContaining('a rule denies "rm *"') });
    expect(task.canary()).toBe(true);
    expect((await world.events(task.task)).some(({ event }) => event.type === 'ask')).toBe(false);
  });

  it('that cannot be held to a rule are for a person, also under --yolo', async () => {
    const commands = { deny: ['rm *'], allowRedirects: true };
    const task = await runs({ policy: YOLO, commands }, command('x=rm; $x canary.txt'));
    const { ask } = await world.event(task.task, isAsk);
    expect(ask.question).toContain('known only when it runs');
    expect(task.canary()).toBe(true);
    await task.client.answer(task.task, { ask: ask.id, answer: 'no' });
    await completed(world, task);
    expect(task.canary()).toBe(true);
  });

  it('are judged anew when an earlier call of the same answer has changed the workspace', async () => {
    const link = command('ln -s / elsewhere');
    const workspace = folder();
    const responder = answers([link, command('ls elsewhere')], [finish()]);
    const task = await play(world, responder, { policy: SAFE, workspace });
    const first = await world.event(task.task, isAsk);
    await task.client.answer(task.task, { ask: first.ask.id, answer: 'yes' });
    const isSecond = (event: TaskEvent): event is Extract<TaskEvent, { type: 'ask' }> =>
      isAsk(event) && event.ask.id !== first.ask.id;
    const second = await world.event(task.task, isSecond);
    expect(second.ask.question).toContain('ls elsewhere');
    await task.client.answer(task.task, { ask: second.ask.id, answer: 'no' });
    await completed(world, task);
  });
});

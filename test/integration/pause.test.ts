import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StartRequest } from '../../src/client.js';
import { DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { delay, finish, type Responder, say, status } from '../../src/fake-model/index.js';
import { command, completes, ended, lastRequest, linesOf, question } from '../support/resuming.js';
import { updateByCli } from '../support/temporal-cli.js';
import { isAsk, startWorld, until, type World } from '../support/world.js';

const ASKING = { yolo: false, approve: [...DEFAULT_APPROVALS] };
const ALL = { yolo: false, approve: [...DEFAULT_APPROVALS, 'all' as const] };

describe('a paused task', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const begin = async (responder: Responder, request: Partial<StartRequest> = {}) => {
    const model = await world.model({ responder });
    return { model, ...(await world.start(model, { policy: ALL, ...request })) };
  };
  const paused = (task: string) => until(async () => (await world.journal.getTask(task))?.status === 'paused');
  const shown = async (task: string) => (await world.cli(['show', task, '--json'])).lines[0];

  it('ends the answer that streams, and does not begin the call in it', async () => {
    const { task, client, model, workspace } = await begin(({ turn }) =>
      turn === 0
        ? [say('Let me see. ', { half: true }), delay(1_000), command('echo x >> counter'), finish()]
        : [completes('end'), finish()],
    );
    await until(async () => (await world.journal.readPartials(task, 0)).length > 0);
    await client.pause(task);
    await paused(task);
    expect(linesOf(workspace)).toEqual([]);
    expect(await shown(task)).toMatchObject({ status: 'paused', pausedSince: expect.stringMatching(/^20/) });
    await client.unpause(task);
    expect((await ended(world, task)).outcome).toBe('completed');
    expect(linesOf(workspace)).toEqual(['x']);
    expect(model.requests).toHaveLength(2);
    lastRequest(model);
    expect(await shown(task)).toMatchObject({ pausedSince: null });
  });

  it('ends the command that runs, and makes no request', async () => {
    const { task, client, model, workspace } = await begin(({ turn }) =>
      turn === 0 ? [command('echo x >> counter; sleep 1; echo y >> counter'), finish()] : [completes('end'), finish()],
    );
    await until(() => linesOf(workspace).length === 1);
    await client.pause(task);
    await paused(task);
    expect(linesOf(workspace)).toEqual(['x', 'y']);
    await sleep(500);
    expect(model.requests).toHaveLength(1);
    await client.send(task, 'TOKEN-1');
    await client.unpause(task);
    await ended(world, task);
    expect(lastRequest(model).times('TOKEN-1')).toBe(1);
  });

  it('takes an answer, and goes on with it only later', async () => {
    const { task, client, workspace } = await begin(
      ({ turn }) => (turn === 0 ? [command('echo x >> counter'), finish()] : [completes('end'), finish()]),
      { policy: ASKING },
    );
    const { ask } = await world.event(task, isAsk);
    await client.pause(task);
    expect(await shown(task)).toMatchObject({ status: 'waiting', pausedSince: expect.stringMatching(/^20/) });
    await client.answer(task, { ask: ask.id, answer: 'yes' });
    await paused(task);
    expect(linesOf(workspace)).toEqual([]);
    await client.unpause(task);
    await ended(world, task);
    expect(linesOf(workspace)).toEqual(['x']);
  });

  it('is parked until a person cuts that short, and then paused', async () => {
    let requests = 0;
    const { task, client, model } = await begin(() =>
      requests++ === 0 ? [status(429, { 'retry-after': '3600' })] : [completes('end'), finish()],
    );
    await world.seen(task, (event) => event.type === 'status' && event.status === 'parked');
    await client.pause(task);
    const { ask } = await world.event(task, isAsk);
    await client.answer(task, { ask: ask.id, answer: 'yes' });
    await paused(task);
    expect(model.requests).toHaveLength(1);
    await client.unpause(task);
    expect((await ended(world, task)).outcome).toBe('completed');
  });

  it('does not use up its time', async () => {
    const { task, client } = await begin(
      ({ turn }) => (turn === 0 ? [command('sleep 1'), finish()] : [completes('end'), finish()]),
      { limits: { maxTimeMs: 4_000 } },
    );
    await world.seen(task, (event) => event.type === 'say' && event.say === 'command');
    await client.pause(task);
    await paused(task);
    // a limit that is set meanwhile does not count the pause either
    await client.setLimits(task, { maxTimeMs: 4_500 });
    await sleep(5_000);
    await client.unpause(task);
    expect((await ended(world, task)).outcome).toBe('completed');
  }, 40_000);

  it('but a task that goes on does', async () => {
    const { task, client } = await begin(() => [command('sleep 60'), finish()], { limits: { maxTimeMs: 3_000 } });
    await world.seen(task, (event) => event.type === 'say' && event.say === 'command');
    await client.pause(task);
    await sleep(200);
    await client.unpause(task);
    expect(await ended(world, task)).toMatchObject({ outcome: 'budget', limit: 'time' });
  }, 40_000);

  it('can be aborted, and is not paused any more when it is taken up again', async () => {
    const { task, client } = await begin(() => [question('Which?'), finish()], { policy: ASKING });
    await world.event(task, isAsk);
    await client.pause(task);
    await client.answer(task, { answer: 'message', text: 'this' });
    await paused(task);
    await client.abort(task);
    expect((await ended(world, task)).outcome).toBe('cancelled');
    await client.resume(task);
    await until(async () => (await world.events(task)).filter(isAskStored).length === 2);
    await client.abort(task);
  });

  it('is paused once, by any client, with or without an argument', async () => {
    const { task, client } = await begin(() => [question('Which?'), finish()], { policy: ASKING });
    await world.event(task, isAsk);
    await expect(client.unpause(task)).rejects.toMatchObject({ slug: 'task-state' });
    await updateByCli(world, task, 'pause');
    await expect(client.pause(task)).rejects.toMatchObject({ slug: 'task-state' });
    await expect(updateByCli(world, task, 'pause', '{}')).rejects.toThrow(/paused already/);
    await updateByCli(world, task, 'unpause', '{}');
    await expect(updateByCli(world, task, 'unpause')).rejects.toThrow(/not paused/);
    await expect(updateByCli(world, task, 'pause', '{"until":1}')).rejects.toThrow(/"until" is not known/);
    await expect(updateByCli(world, task, 'pause', '"now"')).rejects.toThrow(/JSON object/);
    await expect(updateByCli(world, task, 'pause', '{"notAfter":1}')).rejects.toThrow(/too late/);
    await client.abort(task);
  });
});

const isAskStored = ({ event }: { event: { type: string } }) => event.type === 'ask';

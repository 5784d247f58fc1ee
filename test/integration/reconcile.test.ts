import { rename } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApprovalPolicy, DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { call, finish, type Responder } from '../../src/fake-model/index.js';
import { homePaths } from '../../src/settings/paths.js';
import { isAsk, isClosed, markedProcesses, startWorld, until, type World, YOLO } from '../support/world.js';

const completes: Responder = () => [call('attempt_completion', { result: 'done' }), finish()];
const runs =
  (command: string): Responder =>
  () => [call('execute_command', { command, requires_approval: false }), finish()];
const asks: Responder = () => [call('ask_followup_question', { question: 'Which?' }), finish()];

const ASKING = { yolo: false, approve: [...DEFAULT_APPROVALS] };

describe('a task whose workflow has ended without its doing', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const statusOf = async (task: string) => (await world.journal.getTask(task))?.status;
  const terminated = async (
    responder: Responder,
    ready: (task: string) => Promise<unknown>,
    policy: ApprovalPolicy = ASKING,
  ) => {
    const model = await world.model({ responder });
    const started = await world.start(model, { policy });
    await ready(started.task);
    await world.temporal.workflow.getHandle(started.task).terminate();
    return { model, ...started };
  };

  it('is in nobody’s way: a new task takes its folder', async () => {
    const { client, task, workspace } = await terminated(asks, (id) => world.event(id, isAsk));
    const next = await client.start({ prompt: 'Again.', workspace });
    expect(await statusOf(task)).toBe('cancelled');
    expect(await client.openAsks(task)).toEqual([]);
    await expect(client.start({ prompt: 'More.', workspace })).rejects.toMatchObject({ slug: 'workspace-in-use' });
    await client.abort(next.task);
    await world.event(next.task, isClosed);
  });

  it('ends with `abort`', async () => {
    const { client, task } = await terminated(asks, (id) => world.event(id, isAsk));
    await client.abort(task);
    expect(await statusOf(task)).toBe('cancelled');
    await expect(client.abort(task)).resolves.toBeUndefined();
  });

  it('is taken up again with a message, whether it has left a state or not', async () => {
    const { client, task } = await terminated(asks, (id) => world.event(id, isAsk));
    expect(await client.send(task, 'Go on.')).toEqual({ state: 'follow_up' });
    await client.abort(task);

    const model = await world.model({
      responder: (request) => (/ODDWORD/.test(JSON.stringify(request.body)) ? asks : completes)(request),
    });
    const other = await world.start(model, { policy: ASKING });
    await world.event(other.task, isClosed);
    await other.client.send(other.task, 'ODDWORD');
    await world.event(other.task, isAsk);
    await world.temporal.workflow.getHandle(other.task).terminate();
    expect(await other.client.send(other.task, 'Finish.')).toEqual({ state: 'follow_up' });
    await until(async () => ['completed', 'waiting', 'running'].includes((await statusOf(other.task)) ?? ''));
    await other.client.abort(other.task);
  });

  it('is found by the worker, which ends its commands', async () => {
    const running = (id: string) => until(() => markedProcesses(`LONGHAUL_TASK=${id}`).length > 0);
    const { task } = await terminated(runs('sleep 600'), running, YOLO);
    const closed = await world.event(task, isClosed, 45_000);
    expect(closed.outcome).toEqual({ outcome: 'cancelled' });
    await until(() => markedProcesses(`LONGHAUL_TASK=${task}`).length === 0, 30_000);
  }, 120_000);

  it('or was never started frees its folder half a minute later, not before', async () => {
    const model = await world.model({ responder: completes });
    const client = await world.client(model);
    const workspace = world.workspace();
    const server = `${world.server.address}/${world.server.namespace}`;
    const row = { task: 'nevstarted', workspace, model: 'm', title: 't', input: '{}', server };
    await world.journal.createTask(row);
    await expect(client.start({ prompt: 'Do it.', workspace })).rejects.toMatchObject({ slug: 'workspace-in-use' });
    await expect(client.abort(row.task)).rejects.toMatchObject({ slug: 'task-busy' });
    await until(async () => (await statusOf(row.task)) === 'cancelled', 70_000);
    await client.start({ prompt: 'Do it.', workspace });
  }, 120_000);
});

it('many follow-ups at once of a closed task start one run, and all messages reach it', async () => {
  const world = await startWorld();
  try {
    await world.worker();
    const model = await world.model({ responder: completes });
    const { task, client } = await world.start(model, {});
    await world.event(task, isClosed);
    const receipts = await Promise.all([0, 1, 2, 3].map((i) => client.send(task, `message-${i}.`)));
    expect(receipts.filter(({ state }) => state === 'follow_up').length).toBeGreaterThan(0);
    await until(() => {
      const sent = JSON.stringify(model.requests.at(-1)?.body);
      return [0, 1, 2, 3].every((i) => sent.split(`message-${i}.`).length === 2);
    });
    const ends = (await world.events(task)).flatMap(({ event }) => (isClosed(event) ? [event.outcome.outcome] : []));
    expect(new Set(ends)).toEqual(new Set(['completed']));
  } finally {
    await world.stop();
  }
}, 120_000);

it('a message that no worker took in time is not delivered later, and its repetition is delivered once', async () => {
  const world = await startWorld();
  try {
    const worker = await world.worker();
    const model = await world.model({
      responder: ({ turn }) => (turn === 0 ? runs('sleep 30') : completes)({ turn } as never),
    });
    const { task, client } = await world.start(model, {});
    await until(() => markedProcesses(`LONGHAUL_TASK=${task}`).length > 0);
    await worker.freeze();
    await expect(client.send(task, 'ODDWORD')).rejects.toMatchObject({ slug: 'service-busy' });
    worker.signal('SIGCONT');
    await client.send(task, 'ODDWORD');
    await world.event(task, isClosed, 90_000);
    const sent = JSON.stringify(model.requests.at(-1)?.body);
    expect(sent.split('ODDWORD')).toHaveLength(2);
  } finally {
    await world.stop();
  }
}, 180_000);

it('a worker whose journal was taken away ends', async () => {
  const world = await startWorld();
  try {
    const worker = await world.worker();
    const { journal } = homePaths(world.home);
    await rename(journal, `${journal}.away`);
    await until(() => {
      try {
        process.kill(worker.pid, 0);
        return false;
      } catch {
        return true;
      }
    });
  } finally {
    await world.stop();
  }
});

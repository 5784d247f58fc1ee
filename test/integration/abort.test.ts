import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { call, finish, manyCalls, type Responder, say, stall, status } from '../../src/fake-model/index.js';
import { isAsk, markedProcesses, startWorld, until, type World } from '../support/world.js';

/** No process and no model connection is left after this long, ms. */
const GONE_MS = 5_000;

const isSay = (kind: string) => (event: { type: string }) =>
  event.type === 'say' && 'say' in event && event.say === kind;

describe('abort', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  /** Aborts when `ready` resolves, and checks that nothing is left and that the workflow ends as cancelled. */
  const abortWhen = async (
    responder: Responder,
    ready: (task: string, model: Awaited<ReturnType<World['model']>>) => Promise<unknown>,
    policy = { yolo: true, approve: [...DEFAULT_APPROVALS] },
  ) => {
    const model = await world.model({ responder });
    const { task, client } = await world.start(model, { policy });
    await ready(task, model);
    const marker = `LONGHAUL_TASK=${task}`;
    await client.abort(task);
    await until(() => markedProcesses(marker).length === 0, GONE_MS);
    await until(() => model.requests.every((request) => request.ended !== undefined), GONE_MS);
    const handle = world.temporal.workflow.getHandle(task);
    await until(async () => (await handle.describe()).status.name === 'CANCELLED', 15_000);
    const events = (await world.events(task)).map(({ event }) => event);
    expect(events.at(-1)).toMatchObject({ type: 'closed', outcome: { outcome: 'cancelled' } });
    const opened = events.filter((event) => event.type === 'ask').length;
    expect(events.filter((event) => event.type === 'ask_closed')).toHaveLength(opened);
    const requests = model.requests.length;
    await new Promise((done) => setTimeout(done, 1_000));
    expect(model.requests).toHaveLength(requests);
    return { task, events };
  };

  it('while starting', () =>
    abortWhen(
      () => [say('hi'), finish()],
      async () => undefined,
    ));

  it('while the answer streams, and keeps what came', async () => {
    const { events } = await abortWhen(
      () => [say('Let me think about it. '.repeat(20), { half: true }), stall()],
      (task) => until(async () => (await world.journal.readPartials(task, 0)).length > 0),
    );
    expect(events.some(isSay('text'))).toBe(true);
  });

  it('while the provider is silent from the start', () =>
    abortWhen(
      () => [stall()],
      (_task, model) => model.until((requests) => requests.length === 1),
    ));

  it('while a command runs that ignores SIGTERM and has left its session', () =>
    abortWhen(
      () => [
        call('execute_command', { command: "trap '' TERM; setsid sleep 600 & sleep 601", requires_approval: false }),
        finish(),
      ],
      async (task) => {
        await world.seen(task, isSay('command'));
        await until(() => markedProcesses(`LONGHAUL_TASK=${task}`).length >= 2);
      },
    ));

  it('while it waits for an answer', () =>
    abortWhen(
      () => [call('ask_followup_question', { question: 'Which?' }), finish()],
      (task) => world.event(task, isAsk),
      { yolo: false, approve: [...DEFAULT_APPROVALS] },
    ));

  it('while it backs off', () =>
    abortWhen(
      () => [status(529)],
      (task) => world.seen(task, isSay('error_retry')),
    ));

  it('while it is parked', () =>
    abortWhen(
      () => [status(429, { 'retry-after': '3600' })],
      (task) => world.seen(task, (event) => event.type === 'status' && event.status === 'parked'),
    ));

  it('around the hand-over to a new run', async () => {
    const responder = manyCalls(1_000, (i) => call('list_files', { path: `.${'/.'.repeat(i % 7)}` }));
    const nearlyFull = (events: number) => (task: string) => {
      let first: string | undefined;
      return until(async () => {
        const { historyLength, runId } = await world.temporal.workflow.getHandle(task).describe();
        first ??= runId;
        return historyLength >= events || runId !== first;
      }, 120_000);
    };
    await Promise.all([1_440, 1_470, 1_485].map((events) => abortWhen(responder, nearlyFull(events))));
  }, 180_000);
});

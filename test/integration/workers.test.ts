import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call, finish, manyCalls, pace, type Responder, say } from '../../src/fake-model/index.js';
import { isClosed, startWorld, type TestWorker, until, type World } from '../support/world.js';

/** The heartbeat timeout is 15 s, and each next execution may be handed to one more open poll of the stopped worker. */
const TAKEN_OVER_MS = 150_000;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Appends a line to `counter`, slowly, `n` times in as many turns. */
const counting = (n: number, seconds = 0): Responder =>
  manyCalls(n, (i) =>
    call('execute_command', { command: `echo ${i} >> counter; sleep ${seconds}`, requires_approval: false }),
  );

const lines = (workspace: string) => {
  const file = join(workspace, 'counter');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};

describe('workers', () => {
  let world: World;
  beforeEach(async () => {
    world = await startWorld();
  });
  afterEach(() => world.stop());

  it('a workflow worker and a host worker on different queues share the work', async () => {
    await world.worker({ role: 'workflow' });
    await world.worker({ role: 'host', host: 'build-7' });
    const model = await world.model({ responder: counting(3) });
    const { task, workspace } = await world.start(model, {});
    expect((await world.event(task, isClosed)).outcome.outcome).toBe('completed');
    expect(lines(workspace)).toEqual(['0', '1', '2']);
    const { events } = await world.temporal.workflow.getHandle(task).fetchHistory();
    const queues = new Map(
      events?.flatMap(({ activityTaskScheduledEventAttributes: activity }) =>
        activity ? [[activity.activityType?.name, activity.taskQueue?.name]] : [],
      ),
    );
    expect(queues.get('streamModel')).toBe('longhaul-host-build-7');
    expect(queues.get('runTool')).toBe('longhaul-host-build-7');
    expect(queues.get('closeTask')).toBe('longhaul');
    expect(model.refused()).toEqual([]);
  });

  it('a worker makes a namespace ready, and one that is not there is said to be missing', async () => {
    const { workflowService, operatorService } = world.temporal.connection;
    await workflowService.registerNamespace({
      namespace: 'fresh',
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
    await world.worker({ env: { TEMPORAL_NAMESPACE: 'fresh' } });
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace: 'fresh' });
    expect(customAttributes).toMatchObject({ LonghaulAsk: 2, LonghaulStatus: 2, LonghaulWaitingSince: 6 });
    for (const env of [{ TEMPORAL_NAMESPACE: 'absent' }, { TEMPORAL_ADDRESS: '127.0.0.1:1' }]) {
      const { code, err } = await world.cli(['worker'], { env });
      expect(code).toBe(5);
      expect(err).toMatch(/^page: .*docs\/errors\/temporal-unreachable\.md$/m);
    }
  });

  it('a killed host worker costs no turn and repeats no command', async () => {
    await world.worker({ role: 'workflow' });
    const first = await world.worker({ role: 'host', host: 'h' });
    const model = await world.model({ responder: counting(3, 2) });
    const { task, workspace } = await world.start(model, {});
    await until(() => lines(workspace).length === 2);
    await first.kill9();
    await world.worker({ role: 'host', host: 'h' });
    expect((await world.event(task, isClosed, 60_000)).outcome.outcome).toBe('completed');
    expect(lines(workspace)).toEqual(['0', '1', '2']);
    expect(model.refused()).toEqual([]);
  }, 120_000);

  /** Stops the only worker at `when`, and wakes it up again when a second one has taken over. */
  const zombie = async (
    responder: Responder,
    when: (task: string, workspace: string) => Promise<unknown>,
    takenOver: (task: string) => Promise<unknown>,
  ) => {
    const first: TestWorker = await world.worker();
    const model = await world.model({ responder });
    const { task, workspace } = await world.start(model, {});
    await when(task, workspace);
    await first.freeze();
    await world.worker();
    await takenOver(task);
    first.signal('SIGCONT');
    const closed = await world.event(task, isClosed, 60_000);
    expect(closed.outcome.outcome).toBe('completed');
    await pause(2_000);
    expect(model.refused()).toEqual([]);
    return { model, workspace, task };
  };

  it('a worker that was stopped during a command and wakes up again changes nothing', async () => {
    const { workspace, task } = await zombie(
      counting(2, 8),
      (_task, folder) => until(() => lines(folder).length === 1),
      // The command has ended long since, so the first act of a successor is its result.
      (id) => world.seen(id, (event) => event.type === 'say' && event.say === 'command_output', TAKEN_OVER_MS),
    );
    expect(lines(workspace)).toEqual(['0', '1']);
    const results = (await world.events(task)).filter(
      ({ event }) => event.type === 'say' && event.say === 'command_output',
    );
    expect(results).toHaveLength(2);
  }, 240_000);

  it('a worker that was stopped during a stream and wakes up again changes nothing', async () => {
    const text = Array.from({ length: 300 }, (_, at) => `word${at}`).join(' ');
    const responder: Responder = ({ turn }) =>
      turn === 0
        ? [pace(40), say(text), call('list_files', { path: '.' }), finish()]
        : [call('attempt_completion', { result: 'done' }), finish()];
    const { task, model } = await zombie(
      responder,
      (id) => until(async () => (await world.journal.readPartials(id, 0)).length > 5),
      (id) => world.seen(id, (event) => event.type === 'retract', TAKEN_OVER_MS),
    );
    const events = (await world.events(task)).map(({ event }) => event);
    const texts = events.filter((event) => event.type === 'say' && event.say === 'text');
    expect(texts).toHaveLength(1);
    expect(events.filter((event) => event.type === 'retract')).toHaveLength(1);
    const last = JSON.stringify(model.requests.at(-1)?.body);
    expect(last.split('word123 ')).toHaveLength(2);
    const usage = await world.journal.totals(task);
    expect(usage.requests).toBe(3);
  }, 240_000);

  it('a worker that is asked to end leaves a running command to its successor', async () => {
    const first = await world.worker();
    const model = await world.model({ responder: counting(2, 6) });
    const { task, workspace } = await world.start(model, {});
    await until(() => lines(workspace).length === 1);
    await first.stop();
    appendFileSync(join(workspace, 'marker'), 'the worker has ended');
    await world.worker();
    expect((await world.event(task, isClosed, 60_000)).outcome.outcome).toBe('completed');
    expect(lines(workspace)).toEqual(['0', '1']);
  }, 120_000);
});

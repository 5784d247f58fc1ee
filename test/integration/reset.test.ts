import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApprovalPolicy, DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { call, finish, type Responder, say, stall } from '../../src/fake-model/index.js';
import { isAsk, isClosed, markedProcesses, startWorld, until, type World } from '../support/world.js';

const ASKING: ApprovalPolicy = { yolo: false, approve: [...DEFAULT_APPROVALS, 'edit', 'all'] };
const command = (text: string) => call('execute_command', { command: text, requires_approval: false });
const question = (text: string) => call('ask_followup_question', { question: text });
const done = (result: string) => call('attempt_completion', { result });

/** REAPPLY_NONE: signals and updates after the point are dropped, too. */
const NOTHING_AGAIN = 2;

describe('a task that was reset', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const begin = async (responder: Responder) => {
    const model = await world.model({ responder });
    return { model, ...(await world.start(model, { policy: ASKING })) };
  };

  type HistoryEvent = NonNullable<Awaited<ReturnType<typeof historyOf>>>[number];
  const historyOf = async (task: string) => (await world.temporal.workflow.getHandle(task).fetchHistory()).events;

  const isWorkflowTask = ({ workflowTaskCompletedEventAttributes: done }: HistoryEvent) => done != null;

  /** Resets to the last workflow task before the last event of which `is` holds. @returns the new run */
  const reset = async (task: string, is: (event: HistoryEvent) => boolean) => {
    const events = (await historyOf(task)) ?? [];
    const at = events.slice(0, events.findLastIndex(is)).findLast(isWorkflowTask);
    return resetTo(task, at!);
  };
  const resetTo = async (task: string, { eventId }: HistoryEvent) => {
    const { runId } = await world.temporal.workflow.getHandle(task).describe();
    const made = await world.temporal.workflowService.resetWorkflowExecution({
      namespace: world.server.namespace,
      workflowExecution: { workflowId: task, runId },
      reason: 'a test',
      requestId: randomUUID(),
      workflowTaskFinishEventId: eventId!,
      resetReapplyType: NOTHING_AGAIN,
    });
    return made.runId;
  };
  const schedules = (type: string) => (event: HistoryEvent) =>
    event.activityTaskScheduledEventAttributes?.activityType?.name === type;

  const rowOf = async (task: string) => (await world.journal.getTask(task))!;
  const shown = async (task: string) => (await world.cli(['show', task, '--json'])).lines[0];
  const resets = async (task: string) =>
    (await world.events(task)).filter(
      ({ event }) => event.type === 'say' && event.say === 'info' && event.text.includes('was reset'),
    );
  const running = (task: string, text: string) =>
    markedProcesses(`LONGHAUL_TASK=${task}`).filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim() === text;
      } catch {
        return false;
      }
    });

  it('goes on from there without what the old run was doing, and keeps what both have in common', async () => {
    let lastTurns = 0;
    const { task, model, client } = await begin(({ turn }) => {
      if (turn === 0) return [command('sleep 700 >/dev/null 2>&1 & echo up'), finish()];
      if (turn === 1) return [call('list_files', { path: '.' }), finish()];
      if (turn > 2) return [done('The end.'), finish()];
      lastTurns++;
      return [lastTurns === 1 ? command("trap '' TERM; setsid sleep 701 & sleep 702") : question('Which?'), finish()];
    });
    await until(() => running(task, 'sleep 701').length === 1 && running(task, 'sleep 702').length === 1);
    expect((await rowOf(task)).turns).toBe(3);

    const run = await reset(task, schedules('streamModel'));
    const { ask } = await world.event(task, isAsk);
    expect(await rowOf(task)).toMatchObject({ run, status: 'waiting', turns: 3 });
    await until(() => running(task, 'sleep 701').length + running(task, 'sleep 702').length === 0, 45_000);
    expect(running(task, 'sleep 700')).toHaveLength(1);
    expect(await resets(task)).toHaveLength(1);
    expect(await shown(task)).toMatchObject({ status: 'waiting', outcome: null, asks: [{ id: ask.id }] });
    expect((await world.cli(['log', task])).out).toContain('The task was reset to an earlier point, in turn 3');

    await client.answer(task, { ask: ask.id, answer: 'message', text: 'this one' });
    expect((await world.event(task, isClosed)).outcome).toMatchObject({ outcome: 'completed' });
    expect(model.refused()).toEqual([]);
    const sent = JSON.stringify(model.requests.at(-1)?.body);
    expect(sent).toContain('this one');
    expect(sent).not.toContain('sleep 701');
    expect(await shown(task)).toMatchObject({ status: 'completed', turns: 4 });
    await until(() => markedProcesses(`LONGHAUL_TASK=${task}`).length === 0);
  }, 120_000);

  it('makes the request that was running again, and the old one writes nothing more', async () => {
    let requests = 0;
    const { task, model } = await begin(({ turn }) => {
      if (turn === 0) return [call('list_files', { path: '.' }), finish()];
      requests++;
      return requests === 1 ? [say('Half of it. '.repeat(20), { half: true }), stall()] : [done('Again.'), finish()];
    });
    await until(async () => (await world.journal.readPartials(task, 0)).length > 0);
    await reset(task, schedules('streamModel'));
    expect((await world.event(task, isClosed)).outcome).toMatchObject({ outcome: 'completed' });
    await until(() => model.requests.every(({ ended }) => ended !== undefined), 5_000);
    const events = (await world.events(task)).map(({ event }) => event);
    expect(events.filter(({ type }) => type === 'retract')).toHaveLength(1);
    expect(JSON.stringify(events)).not.toContain('Half of it.');
    expect((await world.journal.readPartials(task, 0)).length).toBe(0);
    expect((await world.journal.totals(task)).requests).toBe(3);
    expect(model.refused()).toEqual([]);
  }, 60_000);

  it('attaches to a command that was running at that point, which runs once', async () => {
    const { task, workspace, model } = await begin(({ turn }) =>
      turn === 0 ? [command('echo x >> counter; sleep 8; echo y >> counter'), finish()] : [done('ok'), finish()],
    );
    const lines = () =>
      existsSync(join(workspace, 'counter')) ? readFileSync(join(workspace, 'counter'), 'utf8').trim().split('\n') : [];
    await until(() => lines().length === 1);
    // a signal makes one more workflow task, after that which has started the command
    await world.temporal.workflow.getHandle(task).signal('answer', 'nothing is asked');
    const last = await until(async () => (await historyOf(task))?.slice(-1).find(isWorkflowTask));
    await resetTo(task, last);
    expect((await world.event(task, isClosed, 60_000)).outcome).toMatchObject({ outcome: 'completed' });
    expect(lines()).toEqual(['x', 'y']);
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('exit code 0');
  }, 90_000);

  it('asks again what had been answered, also when nothing else is to be done, and withdraws later asks', async () => {
    const { task, client } = await begin(({ turn }) =>
      turn < 2 ? [question(`Question ${turn}?`), finish()] : [done('ok'), finish()],
    );
    const first = await world.event(task, isAsk);
    await client.answer(task, { ask: first.ask.id, answer: 'message', text: 'one' });
    const isSecond = (event: { type: string }): event is typeof first =>
      isAsk(event as never) && (event as typeof first).ask.id !== first.ask.id;
    const second = await world.event(task, isSecond);
    await reset(task, ({ workflowExecutionUpdateAcceptedEventAttributes: taken }) => taken != null);
    await until(async () => (await resets(task)).length === 1, 60_000);
    expect((await client.openAsks(task)).map(({ id }) => id)).toEqual([first.ask.id]);
    expect(await shown(task)).toMatchObject({ status: 'waiting', turns: 1 });
    await expect(client.answer(task, { ask: second.ask.id, answer: 'message', text: 'two' })).rejects.toMatchObject({
      slug: 'ask-refused',
    });
    await client.answer(task, { ask: first.ask.id, answer: 'message', text: 'other' });
    const third = await until(async () => (await client.openAsks(task)).find(({ id }) => id !== first.ask.id));
    await client.answer(task, { ask: third.id, answer: 'message', text: 'three' });
    expect((await world.event(task, isClosed)).outcome).toMatchObject({ outcome: 'completed' });
  }, 120_000);

  it('is open again when it had ended', async () => {
    let ends = 0;
    const { task } = await begin(({ turn }) => {
      if (turn === 0) return [call('list_files', { path: '.' }), finish()];
      ends++;
      return [done(`End ${ends}.`), finish()];
    });
    await world.event(task, isClosed);
    await reset(task, schedules('streamModel'));
    const ended = async () => (await world.events(task)).map(({ event }) => event).filter(isClosed);
    await until(async () => (await ended()).length === 2);
    expect((await ended()).at(-1)?.outcome).toMatchObject({ outcome: 'completed', result: { text: 'End 2.' } });
    expect(await resets(task)).toHaveLength(1);
    expect(await shown(task)).toMatchObject({ status: 'completed', turns: 2, outcome: { result: 'End 2.' } });
  }, 60_000);
});

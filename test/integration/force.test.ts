import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApprovalPolicy, DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { call, finish, type Responder, say, stall } from '../../src/fake-model/index.js';
import { play } from '../support/playing.js';
import { isAsk, markedProcesses, startWorld, type TestWorker, until, type World, YOLO } from '../support/world.js';

/** No process and no model connection is left after this long, ms. */
const GONE_MS = 5_000;
const STUBBORN = "trap '' TERM; setsid sleep 600 & sleep 601; sleep 602";

const runs =
  (command: string): Responder =>
  () => [call('execute_command', { command, requires_approval: false }), finish()];
const streams: Responder = () => [say('Let me think about it. '.repeat(20), { half: true }), stall()];
const asks: Responder = () => [call('ask_followup_question', { question: 'Which?' }), finish()];
const ASKING = { yolo: false, approve: [...DEFAULT_APPROVALS] };

describe('abort --force', () => {
  let world: World;
  let worker: TestWorker;
  beforeAll(async () => {
    world = await startWorld();
    worker = await world.worker();
  });
  afterAll(() => world.stop());

  const processes = (task: string) => markedProcesses(`LONGHAUL_TASK=${task}`);
  const streaming = (task: string) => until(async () => (await world.journal.readPartials(task, 0)).length > 0);
  const begin = (responder: Responder, policy: ApprovalPolicy = YOLO) => play(world, responder, { policy });
  const force = (task: string) => world.cli(['abort', task, '--force', '--json']);

  /** Nothing lives, the log has ended, and nobody adds to it. */
  const isOver = async (task: string) => {
    const { status } = await world.temporal.workflow.getHandle(task).describe();
    expect(status.name).toBe('TERMINATED');
    await until(() => processes(task).length === 0, GONE_MS);
    const events = await world.events(task);
    expect(events.at(-1)?.event).toMatchObject({ type: 'closed', outcome: { outcome: 'cancelled' } });
    await sleep(2_000);
    expect(await world.events(task)).toHaveLength(events.length);
    expect((await world.journal.getTask(task))?.status).toBe('cancelled');
  };

  it('while the answer streams: the live worker drops the connection and writes nothing more', async () => {
    const { task, model, client, workspace } = await begin(streams);
    await streaming(task);
    const { lines, code } = await force(task);
    expect(code).toBe(0);
    expect(lines[0]).toEqual({
      v: 1,
      type: 'abort',
      task,
      forced: true,
      confirmed: true,
      workflow: 'terminated',
      commands: 0,
      left: 0,
      status: 'cancelled',
    });
    await until(() => model.requests.every(({ ended }) => ended !== undefined), GONE_MS);
    await isOver(task);
    expect(model.requests).toHaveLength(1);
    const next = await client.start({ prompt: 'Again.', workspace });
    await client.forceAbort(next.task);
  });

  it('while a command runs that ignores TERM and has a child in another session; a second time changes nothing', async () => {
    const { task } = await begin(runs(STUBBORN));
    await until(() => processes(task).length >= 2);
    expect((await force(task)).lines[0]).toMatchObject({ workflow: 'terminated', commands: 1, left: 0 });
    expect(processes(task)).toEqual([]);
    await isOver(task);
    expect((await force(task)).lines[0]).toMatchObject({ workflow: 'gone', commands: 0, status: 'cancelled' });
    expect((await world.events(task)).filter(({ event }) => event.type === 'closed')).toHaveLength(1);
  });

  it('while it waits on an ask', async () => {
    const { task, client } = await begin(asks, ASKING);
    await world.event(task, isAsk);
    const { out } = await world.cli(['abort', task, '--force']);
    expect(out).toContain('The task has ended: cancelled');
    await isOver(task);
    expect(await client.openAsks(task)).toEqual([]);
  });

  it('of a task whose workflow was terminated already', async () => {
    const { task } = await begin(asks, ASKING);
    await world.event(task, isAsk);
    await world.temporal.workflow.getHandle(task).terminate();
    expect((await force(task)).lines[0]).toMatchObject({ workflow: 'gone', status: 'cancelled' });
    await isOver(task);
  });

  it('of a task whose workflow task fails again and again', async () => {
    const { temporal, journal, server } = world;
    const task = 'failsforever';
    const workspace = world.workspace();
    const row = { task, workspace, model: 'm', title: 't', input: '{}' };
    await journal.createTask({ ...row, server: `${server.address}/${server.namespace}` });
    await temporal.workflow.start('taskWorkflow', { workflowId: task, taskQueue: 'longhaul', args: [null] });
    await until(async () => {
      const { events } = await temporal.workflow.getHandle(task).fetchHistory();
      return events?.some(({ workflowTaskFailedEventAttributes: failed }) => failed != null);
    });
    expect((await force(task)).lines[0]).toMatchObject({ workflow: 'terminated', status: 'cancelled' });
    await isOver(task);
  });

  it('of a task that does not exist, or is just being started', async () => {
    const { journal, server } = world;
    expect((await force('nosuchtask')).err).toContain('docs/errors/task-not-found.md');
    const row = { task: 'comesyet', workspace: world.workspace(), model: 'm', title: 't', input: '{}' };
    await journal.createTask({ ...row, server: `${server.address}/${server.namespace}` });
    expect((await force(row.task)).err).toContain('docs/errors/task-busy.md');
    expect((await journal.getTask(row.task))?.status).toBe('starting');
  });

  it('while the worker is stopped, which finds when it wakes up that it has come too late', async () => {
    const { task, model } = await begin(streams);
    const { task: other } = await begin(runs(STUBBORN));
    await streaming(task);
    await until(() => processes(other).length >= 2);
    await worker.freeze();
    expect((await force(other)).lines[0]).toMatchObject({ workflow: 'terminated', commands: 1, left: 0 });
    expect((await force(task)).lines[0]).toMatchObject({ workflow: 'terminated' });
    expect(processes(other)).toEqual([]);
    worker.signal('SIGCONT');
    await until(() => model.requests.every(({ ended }) => ended !== undefined), 20_000);
    await isOver(task);
    await isOver(other);
  });

  it('ends the commands when Temporal cannot be reached, and says what is left to do', async () => {
    const { task } = await begin(runs(STUBBORN));
    await until(() => processes(task).length >= 2);
    await worker.freeze();
    const { code, err, lines } = await world.cli(['abort', task, '--force', '--json'], {
      env: { TEMPORAL_ADDRESS: '127.0.0.1:1' },
    });
    worker.signal('SIGCONT');
    expect(code).toBe(5);
    expect(processes(task)).toEqual([]);
    expect(lines[0]).toMatchObject({ type: 'error', slug: 'temporal-unreachable' });
    expect(err).toMatch(/kept: {2}Done: its running commands on this machine were ended \(1\)\. Not done/);
    expect((await world.journal.getTask(task))?.status).toBe('running');
    expect((await force(task)).lines[0]).toMatchObject({ workflow: 'terminated', status: 'cancelled' });
    await isOver(task);
  });

  it('without any worker: dead during a command, and a task that no worker has ever seen', async () => {
    const { task } = await begin(runs(STUBBORN));
    await until(() => processes(task).length >= 2);
    await worker.kill9();
    const { task: unseen } = await begin(streams);
    const { lines, out } = await world.cli(['abort', unseen, '--force']);
    expect([lines, out]).toEqual([[], expect.stringContaining('its workflow was terminated') as string]);
    expect((await force(task)).lines[0]).toMatchObject({ workflow: 'terminated', commands: 1, left: 0 });
    expect(processes(task)).toEqual([]);
    await isOver(task);
    await isOver(unseen);
  });
});

import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { call, finish, type Responder } from '../../src/fake-model/index.js';
import { type CliResult, isAsk, markedProcesses, startWorld, until, type World, YOLO } from '../support/world.js';

const runs: Responder = () => [call('execute_command', { command: 'sleep 600', requires_approval: false }), finish()];
const asks: Responder = () => [call('ask_followup_question', { question: 'Which?' }), finish()];

/** A lease is 10 s. */
const LEASE_MS = 20_000;

describe('a task that nobody works on', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.stop());

  const status = async (task: string) => (await world.cli(['show', task, '--json'])).lines[0];
  const listed = async (task: string) => {
    const { tasks = [] } = ((await world.cli(['tasks', '--json'])).lines[0] ?? {}) as { tasks?: { task: string }[] };
    return tasks.find((one) => one.task === task);
  };
  const statusLine = (word: string) => expect.objectContaining({ type: 'status', status: word }) as unknown;

  /** Follows a task until `is` holds for what has been printed, then leaves. */
  const following = async (argv: string[], is: (out: string) => boolean): Promise<CliResult> => {
    let child: ChildProcess | undefined;
    let out = '';
    const end = world.cli(argv, {
      onSpawn: (spawned) => {
        child = spawned;
        spawned.stdout?.on('data', (piece: Buffer) => {
          out += piece.toString();
        });
      },
    });
    await until(() => is(out));
    child?.kill('SIGTERM');
    return end;
  };

  it('is said to be so by every command, until a worker is there; one that waits for a person waits', async () => {
    const worker = await world.worker();
    const model = await world.model({ responder: runs });
    const asking = await world.model({ responder: asks });
    const { task } = await world.start(model, { policy: YOLO });
    const waiting = await world.start(asking, { policy: { yolo: false, approve: [...DEFAULT_APPROVALS] } });
    await until(() => markedProcesses(`LONGHAUL_TASK=${task}`).length > 0);
    await world.event(waiting.task, isAsk);
    await until(async () => (await world.journal.getTask(waiting.task))?.status === 'waiting');
    expect(await status(task)).toMatchObject({ status: 'running', worker: true });

    const followed = following(['log', task, '--follow', '--json'], (out) => out.includes('no_worker'));
    await worker.kill9();
    await until(async () => (await status(task))?.status === 'no_worker', LEASE_MS);
    expect((await followed).lines.at(-1)).toEqual(statusLine('no_worker'));
    expect(await status(task)).toMatchObject({ worker: false });
    expect(await listed(task)).toMatchObject({ status: 'no_worker' });
    expect(await listed(waiting.task)).toMatchObject({ status: 'waiting' });
    expect(await status(waiting.task)).toMatchObject({ status: 'waiting', worker: false });
    expect((await world.cli(['show', waiting.task])).out).toMatch(
      /waiting \(no worker is alive: start one with .*worker\)/,
    );
    expect((await world.cli(['tasks', '--status', 'no_worker'])).out).toContain(task);
    expect((await world.cli(['tasks', '--status', 'running'])).out).not.toContain(task);

    const attached = await following(['attach', task, '--json'], (out) => out.includes('no_worker'));
    expect(attached.lines).toContainEqual(statusLine('no_worker'));
    const people = await following(['attach', task], (out) => out.includes('No worker since'));
    expect(people.code).toBe(143);

    const back = following(['attach', task, '--json'], (out) => out.includes('Back again'));
    await until(async () => (await world.journal.liveHosts()).length === 0, LEASE_MS);
    await new Promise((done) => setTimeout(done, 2_000));
    const second = await world.worker();
    expect((await back).lines.at(-2)).toEqual(statusLine('running'));
    expect(await status(task)).toMatchObject({ status: 'running', worker: true });
    await waiting.client.abort(waiting.task);
    await waiting.client.abort(task);
    await until(async () => (await world.journal.getTask(task))?.status === 'cancelled');
    await second.stop();
    expect(await world.journal.liveWorkers()).toEqual([]);
  }, 120_000);

  it('a worker of another host, or one that only decides, does not count; a stopped one is gone at once', async () => {
    await world.worker({ role: 'workflow' });
    const host = await world.worker({ role: 'host', host: 'build-7' });
    const model = await world.model({ responder: runs });
    const { task, client } = await world.start(model, { policy: YOLO });
    await until(() => markedProcesses(`LONGHAUL_TASK=${task}`).length > 0);
    expect(await status(task)).toMatchObject({ status: 'running' });
    await world.worker({ role: 'host', host: 'build-8' });
    host.signal('SIGTERM');
    await new Promise((done) => setTimeout(done, 500));
    // a second signal does not cut the end short
    await host.stop();
    expect(await status(task)).toMatchObject({ status: 'no_worker' });
    await world.worker({ role: 'host', host: 'build-7' });
    expect(await status(task)).toMatchObject({ status: 'running' });
    await client.abort(task);
    await until(async () => (await world.journal.getTask(task))?.status === 'cancelled');
  }, 60_000);
});

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { call, cut, type FakeModel, finish, say, stall } from '../../src/fake-model/index.js';
import { answers, completed, play } from '../support/playing.js';
import { resultsOf } from '../support/requests.js';
import { isAsk, isClosed, startWorld, type TestWorker, until, type World } from '../support/world.js';

const read = (path: string) => call('read_file', { path });
const write = (path: string, content: string) => call('write_to_file', { path, content });

/** Texts of the results of the first answer's calls. */
const textsOf = (model: FakeModel) => resultsOf(model.requests[1]?.body).map(({ text }) => text);

describe('read-only calls at the beginning of an answer', () => {
  let world: World;
  let worker: TestWorker;
  beforeAll(async () => {
    world = await startWorld();
    worker = await world.worker();
  });
  afterAll(() => world.stop());

  const activities = async (task: string) => {
    const { events } = await world.temporal.workflow.getHandle(task).fetchHistory();
    return (events ?? []).flatMap((one) => one.activityTaskScheduledEventAttributes?.activityType?.name ?? []);
  };

  it('have no activity of their own; the first that changes something, and what follows it, have', async () => {
    const task = await play(
      world,
      answers([read('a'), read('gone'), call('list_files', { path: '.' }), write('b', 'new\n'), read('b'), finish()]),
      { workspace: world.workspace({ a: 'one\n', b: 'old\n' }) },
    );
    const events = await completed(world, task);
    expect((await activities(task.task)).filter((name) => name === 'runTool')).toHaveLength(2);
    const results = textsOf(task.model);
    expect(results).toHaveLength(5);
    expect(results[0]).toContain('one');
    expect(results[1]).toContain('gone');
    expect(results[4]).toContain('new');
    const shown = events.flatMap((one) => (one.type === 'say' && one.say === 'tool' ? [one.summary] : []));
    expect(shown).toHaveLength(5);
  });

  it('see the workspace as it was before what follows them, however the answer is made', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom('read', 'write'), { minLength: 2, maxLength: 9 }), async (kinds) => {
        const steps = kinds.map((kind, at) =>
          kind === 'read' ? read(`${'./'.repeat(at)}f`) : write('f', `version ${at}\n`),
        );
        const task = await play(world, answers([...steps, finish()]), {
          workspace: world.workspace({ f: 'version none\n' }),
        });
        await completed(world, task);
        let version = 'none';
        for (const [at, result] of textsOf(task.model).entries()) {
          if (kinds[at] === 'read') expect(result).toContain(`version ${version}`);
          else version = String(at);
        }
      }),
      { numRuns: 8 },
    );
  });

  it('are not among them when they need approval, and are skipped when a person has refused', async () => {
    const outside = join(mkdtempSync(join(tmpdir(), 'longhaul-outside-')), 'secret');
    writeFileSync(outside, 'canary\n');
    const policy = { yolo: false, approve: [...DEFAULT_APPROVALS] };
    const task = await play(world, answers([read('a'), read(outside), read('a'), finish()]), {
      policy,
      workspace: world.workspace({ a: 'one\n' }),
    });
    const { ask } = await world.event(task.task, isAsk);
    await task.client.answer(task.task, { ask: ask.id, answer: 'no' });
    await completed(world, task);
    const results = textsOf(task.model);
    expect(results[0]).toContain('one');
    expect(results[1]).not.toContain('canary');
    expect(results[2]).toMatch(/^Skipped/);
    expect(readFileSync(outside, 'utf8')).toBe('canary\n');
  });

  it('have run before the answer ends, and count when it is cut behind them', async () => {
    const task = await play(world, answers([read('a'), say('and now'), cut()]), {
      workspace: world.workspace({ a: 'one\n' }),
    });
    const events = await completed(world, task);
    expect(textsOf(task.model)[0]).toContain('one');
    const order = events.flatMap((one) => (one.type === 'say' ? [one.say] : []));
    expect(order.indexOf('tool_result')).toBeLessThan(order.indexOf('api_req_finished'));
    expect(events.some(({ type }) => type === 'retract')).toBe(false);
    expect((await activities(task.task)).filter((name) => name === 'runTool')).toEqual([]);
  });

  it('are not run again when their worker is killed behind them', async () => {
    const task = await play(world, answers([read('a'), say('and now'), stall()]), {
      workspace: world.workspace({ a: 'one\n' }),
    });
    await until(async () =>
      (await world.events(task.task)).some(({ event }) => event.type === 'say' && event.say === 'tool_result'),
    );
    await worker.kill9();
    worker = await world.worker();
    const events = await completed(world, task);
    expect(textsOf(task.model)[0]).toContain('one');
    expect(
      events.filter((one) => one.type === 'say' && one.say === 'tool_result' && one.tool === 'read_file'),
    ).toHaveLength(1);
  });

  it('run before what follows them, also when their worker is shut down in between', async () => {
    const workspace = world.workspace({ slow: `${'abcdefghij'.repeat(20)}\n`.repeat(5000), f: 'old\n' });
    const slow = call('search_files', { path: 'slow', regex: '(?!c).*.*[x-z]' });
    const task = await play(world, answers([slow, write('f', 'new\n'), say('and now'), stall()]), { workspace });
    await until(async () =>
      (await world.events(task.task)).some(({ event }) => event.type === 'say' && event.say === 'tool'),
    );
    await worker.stop();
    worker = await world.worker();
    const results = (await completed(world, task)).flatMap((one) => (one.type === 'say' && 'tool' in one ? [one] : []));
    const ran = results.filter(({ say }) => say === 'tool_result').map(({ tool }) => tool);
    expect(ran).toEqual(['search_files', 'write_to_file']);
  });

  it('of which the last have gone well leave no mistakes, however many there are', async () => {
    const found = Array.from({ length: 10 }, (_, i) => `a${i}`);
    const calls = [...Array.from({ length: 40 }, (_, i) => `gone${i}`), ...found].map((name) => read(name));
    const task = await play(world, answers([...calls, write('b', 'new\n'), say('and now'), stall()]), {
      workspace: world.workspace(Object.fromEntries(found.map((name) => [name, 'one\n']))),
      policy: { yolo: false, approve: [...DEFAULT_APPROVALS] },
      maxConsecutiveMistakes: 3,
    });
    const { ask } = await world.event(task.task, isAsk);
    await task.client.answer(task.task, { ask: ask.id, answer: 'no' });
    await completed(world, task);
    expect(textsOf(task.model)).toHaveLength(51);
  });

  it('that fail count as mistakes, as all others do', async () => {
    const policy = { yolo: true, approve: [] };
    const model = await world.model({ responder: () => [read('gone'), finish()] });
    const { task } = await world.start(model, { policy, maxConsecutiveMistakes: 3 });
    expect((await world.event(task, isClosed, 60_000)).outcome).toMatchObject({
      outcome: 'failed',
      class: 'mistake_limit',
    });
    expect(model.requests).toHaveLength(3);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/domain/events.js';
import { DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { call, callraw, empty, finish, overloaded, say, stall } from '../../src/fake-model/index.js';
import { answers, completed, done, play } from '../support/playing.js';
import { resultsOf } from '../support/requests.js';
import { isAsk, isClosed, startWorld, type World } from '../support/world.js';

const command = (text: string) => call('execute_command', { command: text, requires_approval: false });

describe('a turn', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const said = (events: TaskEvent[], kind: string) => events.filter((one) => one.type === 'say' && one.say === kind);

  it('of 120 calls gives each its result, in order, and no payload grows with them', async () => {
    const workspace = world.workspace(Object.fromEntries(['a', 'b', 'c'].map((name) => [name, name.repeat(5_000)])));
    const reads = Array.from({ length: 120 }, (_, at) =>
      call('read_file', { path: ['a', 'b', 'c', 'gone'][at % 4]!, end_line: at + 1 }),
    );
    const task = await play(world, answers([...reads, finish()]), { workspace });
    await world.event(task.task, isClosed, 60_000);
    const results = resultsOf(task.model.requests[1]?.body);
    expect(results).toHaveLength(120);
    for (const [at, { text, error }] of results.entries()) {
      expect(error).toBe(at % 4 === 3);
      if (!error) expect(text).toContain(['a', 'b', 'c'][at % 4]!.repeat(100));
    }
    const { events } = await world.temporal.workflow.getHandle(task.task).fetchHistory();
    const sizes = JSON.stringify(events)
      .split('"data":"')
      .map((part) => part.indexOf('"'));
    expect(Math.max(...sizes) * 0.75).toBeLessThan(4_096);
    expect(task.model.refused()).toEqual([]);
  });

  it('starts a call while the answer still streams', async () => {
    const text = Array.from({ length: 150 }, (_, at) => `word${at}`).join(' ');
    const model = await world.model({
      responder: answers([command('echo early > early.txt'), say(text), finish()]),
      paceMs: 30,
    });
    const started = await world.start(model, {});
    const events = await completed(world, { ...started, model });
    const order = events.flatMap((one) => (one.type === 'say' ? [one.say] : []));
    expect(order.indexOf('command_output')).toBeLessThan(order.indexOf('api_req_finished'));
    expect(readFileSync(join(started.workspace, 'early.txt'), 'utf8')).toBe('early\n');
  });

  it('is cut when a person refuses a call: the rest is skipped, the marker stored, every call answered', async () => {
    const policy = { yolo: false, approve: [...DEFAULT_APPROVALS] };
    const cutting = await play(
      world,
      answers([command('touch one'), command('touch two'), say('and so on', { half: true }), stall()]),
      { policy },
    );
    const { ask } = await world.event(cutting.task, isAsk);
    await cutting.client.answer(cutting.task, { ask: ask.id, answer: 'no', text: 'neither' });
    await completed(world, cutting);
    const body = JSON.stringify(cutting.model.requests.at(-1)?.body);
    expect(body).toContain('[Response interrupted by user feedback]');
    const results = resultsOf(cutting.model.requests.at(-1)?.body);
    expect(results.map(({ error }) => error)).toEqual([true, true]);
    expect(results[0]?.text).toContain('neither');
    expect(results[1]?.text).toMatch(/^Skipped/);
    expect(cutting.model.requests[0]?.ended?.by).toBe('client');
    expect(['one', 'two'].filter((name) => existsSync(join(cutting.workspace, name)))).toEqual([]);
  });

  it('never executes a call that was cut by the output limit, and the task goes on', async () => {
    const html = '<p>text</p>\n'.repeat(700);
    const whole = call('write_to_file', { path: 'page.html', content: html });
    const looksWhole = callraw('write_to_file', '{"path":"page.html"}');
    for (const cutCall of [{ ...whole, half: true }, looksWhole, whole]) {
      const task = await play(world, answers([say('Writing.'), cutCall, finish('max_tokens')]));
      await completed(world, task);
      expect(existsSync(join(task.workspace, 'page.html'))).toBe(false);
      const [result] = resultsOf(task.model.requests[1]?.body);
      expect(result).toMatchObject({ error: true });
    }
  });

  it('answers calls that cannot run with errors, and gives up after three in a row when nobody watches', async () => {
    const bad = await play(
      world,
      answers(
        [callraw('search_files', '{"regex":"\\H","path":"."}'), finish()],
        [call('no_such_tool', { a: 1 }), finish()],
      ),
    );
    await completed(world, bad);
    expect(resultsOf(bad.model.requests[1]?.body)[0]?.text).toContain('JSON');
    expect(resultsOf(bad.model.requests[2]?.body)[0]?.text).toContain('no_such_tool');
    const forever = await play(world, () => [call('read_file', {}), finish()]);
    const { outcome } = await world.event(forever.task, isClosed);
    expect(outcome).toMatchObject({ outcome: 'failed', class: 'mistake_limit' });
    expect(forever.model.requests).toHaveLength(3);
  });

  it('without a call, or without anything, is followed by another', async () => {
    const task = await play(
      world,
      answers([say('I think I am done.'), finish()], [empty()], [command('true'), finish()], [say(' \n '), finish()]),
    );
    await completed(world, task);
    expect(task.model.requests).toHaveLength(5);
  });

  it('that the model refuses is asked once, and a person decides', async () => {
    const task = await play(world, ({ turn }) => (turn === 0 ? [finish('refusal')] : done));
    const { ask } = await world.event(task.task, isAsk);
    expect(ask.kind).toBe('api_req_failed');
    expect(task.model.requests).toHaveLength(1);
    await task.client.answer(task.task, { ask: ask.id, answer: 'message', text: 'put differently: token-99' });
    await completed(world, task);
    expect(JSON.stringify(task.model.requests[1]?.body)).toContain('token-99');
  });

  it('that is overloaded in the middle of its stream is tried again, and paid for once for each try', async () => {
    const task = await play(
      world,
      answers([say('half of an answ', { half: true }), overloaded(1), command('echo x >> n'), finish()]),
    );
    const events = await completed(world, task);
    expect(said(events, 'error_retry')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'retract')).toHaveLength(1);
    expect(readFileSync(join(task.workspace, 'n'), 'utf8')).toBe('x\n');
    expect((await world.journal.totals(task.task)).requests).toBe(3);
  });
});

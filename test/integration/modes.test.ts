import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/domain/events.js';
import { call, finish, type Step, say } from '../../src/fake-model/index.js';
import { Transcript } from '../../src/journal/rebuild.js';
import { answers, completed, play } from '../support/playing.js';
import { lastTexts, resultsOf } from '../support/requests.js';
import { isAsk, startWorld, until, type World } from '../support/world.js';

const EDITS = { yolo: false, approve: ['read', 'edit', 'all'] } as const;
const policy = { ...EDITS, approve: [...EDITS.approve] };

const write = (path: string): Step => call('write_to_file', { path, content: 'new\n' });
const plan = (response: string, more: Record<string, unknown> = {}): Step =>
  call('plan_mode_respond', { response, ...more });
const act = (response: string): Step => call('act_mode_respond', { response });
const command = (text: string): Step => call('execute_command', { command: text, requires_approval: false });

describe('plan and act', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const setMode = (task: string, mode: string) =>
    world.temporal.workflow.getHandle(task).executeUpdate('mode', { args: [mode] });

  const modesOf = (events: TaskEvent[]) => events.flatMap((event) => (event.type === 'mode' ? [event.mode] : []));
  const textsOf = (events: TaskEvent[]) =>
    events.flatMap((event) => (event.type === 'say' && event.say === 'text' ? [event.text] : []));

  it('plans without editing, talks the plan over, and carries it out when the person says so', async () => {
    const task = await play(
      world,
      answers(
        [write('early.txt'), finish()],
        [plan('# Plan\nWrite a file.', { options: ['small', 'large'] }), finish()],
        [plan('Then small.'), finish()],
        [write('later.txt'), finish()],
      ),
      { policy, mode: 'plan', model: 'claude-sonnet-5', planModel: 'claude-opus-4-5' },
    );
    const { ask } = await world.event(task.task, isAsk);
    expect(ask).toMatchObject({ kind: 'plan_mode_respond', options: ['small', 'large'] });
    expect(ask.detail).toEqual({ text: '# Plan\nWrite a file.' });
    await task.client.answer(task.task, { ask: ask.id, answer: 'message', text: 'small' });
    const second = await until(async () =>
      (await world.events(task.task))
        .map(({ event }) => event)
        .filter(isAsk)
        .at(1),
    );
    await task.client.answer(task.task, { ask: second.ask.id, answer: 'yes', text: 'gently' });
    const events = await completed(world, task);

    const bodies = task.model.requests.map(({ body }) => body);
    expect(lastTexts(bodies[0])[0]).toContain('plan mode');
    const [refused] = resultsOf(bodies[1]);
    expect(refused).toMatchObject({ error: true });
    expect(refused?.text).toContain('plan mode');
    expect(resultsOf(bodies[2])[0]).toEqual({ text: '<user_message>\nsmall\n</user_message>', error: false });
    const [switched] = resultsOf(bodies[3]);
    expect(switched?.text).toMatch(/act mode.*<user_message>\ngently\n<\/user_message>/s);
    expect(lastTexts(bodies[3]).join()).toContain('act mode');
    expect(existsSync(join(task.workspace, 'early.txt'))).toBe(false);
    expect(readFileSync(join(task.workspace, 'later.txt'), 'utf8')).toBe('new\n');
    // one entry for the refused edit, and nobody was asked about it
    const ends = events.filter((event) => event.type === 'say' && event.say === 'tool_result');
    expect(ends).toMatchObject([{ status: 'error' }, { status: 'done' }]);
    expect(events.filter(isAsk)).toHaveLength(2);
    expect(modesOf(events)).toEqual(['act']);
    // neither the switch nor what was said changes the beginning of a request
    const prefixes = bodies.map((body) => {
      const { system, tools } = body as { system: unknown; tools: unknown };
      return JSON.stringify([system, tools]);
    });
    expect(new Set(prefixes).size).toBe(1);
    expect(bodies.map((body) => (body as { model: string }).model)).toEqual([
      ...Array.from({ length: 3 }, () => 'claude-opus-4-5'),
      ...Array.from({ length: 2 }, () => 'claude-sonnet-5'),
    ]);
  });

  it('edits in plan mode where that is not strict', async () => {
    const task = await play(world, answers([write('a.txt'), finish()]), {
      policy,
      mode: 'plan',
      strictPlanMode: false,
    });
    await completed(world, task);
    expect(existsSync(join(task.workspace, 'a.txt'))).toBe(true);
  });

  for (const [from, to] of [
    ['act', 'plan'],
    ['plan', 'act'],
  ] as const) {
    it(`keeps the mode of a turn to its end when a person switches from ${from} to ${to} in it`, async () => {
      const task = await play(
        world,
        answers(
          [command('until test -e go; do sleep 0.1; done'), write('one.txt'), finish()],
          [write('two.txt'), finish()],
        ),
        { policy, mode: from },
      );
      await world.seen(task.task, (event) => event.type === 'say' && event.say === 'command');
      expect(await setMode(task.task, to)).toEqual({ mode: to, unchanged: false });
      expect(await setMode(task.task, to)).toEqual({ mode: to, unchanged: true });
      writeFileSync(join(task.workspace, 'go'), '');
      const events = await completed(world, task);
      const there = ['one.txt', 'two.txt'].map((name) => existsSync(join(task.workspace, name)));
      expect(there).toEqual(from === 'act' ? [true, false] : [false, true]);
      expect(resultsOf(task.model.requests[1]?.body).map(({ error }) => error)).toEqual([false, from === 'plan']);
      expect(lastTexts(task.model.requests[1]?.body).join()).toContain(`${to} mode`);
      expect(modesOf(events)).toEqual([to]);
    });
  }

  it('answers an open plan when the mode is set to act', async () => {
    const task = await play(world, answers([plan('So?'), finish()]), { policy, mode: 'plan' });
    await world.event(task.task, isAsk);
    await setMode(task.task, 'act');
    const events = await completed(world, task);
    expect(resultsOf(task.model.requests[1]?.body)[0]?.text).toContain('switched to act mode');
    expect(modesOf(events)).toEqual(['act']);
    expect(events.find((event) => event.type === 'ask_closed')).toMatchObject({ answer: 'yes' });
  });

  it('goes on exploring without asking, and says what the model said', async () => {
    const task = await play(
      world,
      answers([plan('I have to look first.', { needs_more_exploration: 'true' }), finish()]),
      { policy, mode: 'plan' },
    );
    const events = await completed(world, task);
    expect(events.filter(isAsk)).toEqual([]);
    expect(textsOf(events)).toEqual(['I have to look first.']);
    expect(resultsOf(task.model.requests[1]?.body)[0]).toMatchObject({ error: false });
  });

  it('switches by itself once the plan is there when nobody watches', async () => {
    const task = await play(world, answers([plan('Write it.'), finish()], [write('a.txt'), finish()]), {
      mode: 'plan',
    });
    const events = await completed(world, task);
    expect(events.filter(isAsk)).toEqual([]);
    expect(modesOf(events)).toEqual(['act']);
    expect(textsOf(events)).toEqual(['Write it.']);
    expect(existsSync(join(task.workspace, 'a.txt'))).toBe(true);
    const { tools } = task.model.requests[0]!.body as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).not.toContain('ask_followup_question');
  });

  it('says in act mode how the work goes, once, without waiting, and not twice in a row', async () => {
    const task = await play(
      world,
      answers(
        [say('Hm.'), act('Now the tests.'), finish()],
        [act('Now the tests, really.'), finish()],
        [command('true'), finish()],
        [act('They pass.'), finish()],
      ),
      { policy },
    );
    const events = await completed(world, task);
    const results = task.model.requests.slice(1).map(({ body }) => resultsOf(body)[0]);
    expect(results.map((result) => result?.error)).toEqual([false, true, false, false]);
    const transcript = new Transcript();
    const stored = await world.events(task.task);
    const shown = stored
      .flatMap((event) => transcript.apply({ event }))
      .flatMap((one) => ('rest' in one ? [one.rest] : []));
    expect(shown.filter((text) => text?.startsWith('Now the tests.'))).toEqual(['Now the tests.']);
    expect(textsOf(events)).toContain('They pass.');
  });

  it('has no word on the work in plan mode', async () => {
    const task = await play(world, answers([act('I begin.'), finish()]), { policy, mode: 'plan' });
    const events = await completed(world, task);
    expect(resultsOf(task.model.requests[1]?.body)[0]).toMatchObject({ error: true });
    expect(textsOf(events)).toEqual([]);
  });
});

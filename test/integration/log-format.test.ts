import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HumanView } from '../../src/cli/human-view.js';
import { eventLine } from '../../src/cli/json-view.js';
import { ASK_KINDS } from '../../src/domain/asks.js';
import type { StoredEvent } from '../../src/domain/events.js';
import { call, finish, overloaded, type Step, say, think } from '../../src/fake-model/index.js';
import { testHome, testIo } from '../support/cli.js';
import { ALL_KINDS, checkLine, kindOf, SAYS, TYPES } from '../support/log-format.js';
import { answers, play } from '../support/playing.js';
import { isAsk, isClosed, modelEnv, ROOT, startWorld, type World } from '../support/world.js';

const page = readFileSync(join(ROOT, 'docs', 'log.md'), 'utf8');
const examples = page.split('\n').flatMap((line) => {
  const [, json] = /^ {4}(\{"v":1.*\})$/.exec(line) ?? [];
  return json === undefined ? [] : [JSON.parse(json) as Record<string, unknown>];
});

describe('docs/log.md', () => {
  it('names every type and kind there is, and has an example of each', () => {
    for (const name of [...Object.keys(TYPES), ...Object.keys(SAYS), ...ASK_KINDS])
      expect(page).toContain(`\`${name}\``);
    const shown = new Set(examples.map(kindOf));
    expect([...ALL_KINDS, 'partial'].filter((kind) => !shown.has(kind))).toEqual([]);
  });

  it('has examples that are what it says', () => {
    for (const example of examples) expect(() => checkLine(example), JSON.stringify(example)).not.toThrow();
    expect(() => checkLine({ ...examples[0]!, more: 1 })).toThrow();
    expect(() => checkLine({ ...examples[0]!, seq: 0 })).toThrow();
  });

  it('has nothing that people are not shown, but for what only viewers need', async () => {
    const home = await testHome();
    try {
      const silent: string[] = [];
      for (const example of examples.filter(({ type }) => type !== 'partial')) {
        const { v: _, task, seq, at, ...event } = example;
        // a detail of the examples that the journal does not have
        if (JSON.stringify(event).includes('e3b0c44298fc')) continue;
        const io = testIo();
        const stored = { task, seq, at: Date.parse(String(at)), event } as unknown as StoredEvent;
        await new HumanView(io, home.journal).event(stored);
        if (io.text() === '') silent.push(kindOf(example));
      }
      expect(silent).toEqual(['say api_req_finished', 'say tool', 'retract']);
    } finally {
      await home.remove();
    }
  });
});

const command = (text: string): Step => call('execute_command', { command: text, requires_approval: false });
const read = (path: string, more = {}): Step => call('read_file', { path, ...more });

describe('the log of a task', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  /** What no task here comes to: a command whose end is not known. */
  const ELSEWHERE = ['say error'];

  it('is in that format, for every kind of event that a task can have', async () => {
    const task = await play(
      world,
      answers(
        [think('Where is it?'), say('I look.'), read('a.txt', { task_progress: '- [ ] look' }), finish()],
        [say('half of an', { half: true }), overloaded(1), read('gone'), finish()],
        [call('ask_followup_question', { question: 'Which?', options: ['a', 'b'] }), finish()],
        [call('plan_mode_respond', { response: 'So.' }), finish()],
        [
          call('replace_in_file', { path: 'a.txt', diff: '------- SEARCH\none\n=======\ntwo\n+++++++ REPLACE' }),
          finish(),
        ],
        [command('echo said'), finish()],
        [command('sleep 1'), finish()],
      ),
      {
        workspace: world.workspace({ 'a.txt': 'one\n' }),
        policy: { yolo: false, approve: ['read'] },
        mode: 'plan',
        maxConsecutiveMistakes: 1,
        limits: { maxTurns: 40, softPercent: 5 },
        asks: { followup: { remindMs: 200 } },
      },
    );
    const handle = world.temporal.workflow.getHandle(task.task);
    const update = (name: string, arg?: string | { maxTurns: number }) =>
      arg === undefined ? handle.executeUpdate(name) : handle.executeUpdate(name, { args: [arg] });
    const follow = world.cli(['attach', task.task, '--json', '--on-ask', 'wait'], {
      env: modelEnv(world.env, task.model),
    });
    const answered = new Set<string>();
    let paused = false;
    const end = Date.now() + 60_000;
    for (let over = false; !over && Date.now() < end; ) {
      const events = (await world.events(task.task)).map(({ event }) => event);
      over = events.some(isClosed);
      const last = events.filter(isAsk).at(-1)?.ask;
      if (last && !answered.has(last.id)) {
        if (last.kind === 'followup') {
          await world.seen(task.task, ({ type }) => type === 'ask_reminder');
          await update('limits', { maxTurns: 50 });
        }
        answered.add(last.id);
        const words = last.kind === 'tool' ? { text: 'well' } : {};
        // the rewind may have closed it meanwhile
        await task.client.answer(task.task, { ask: last.id, answer: 'yes', ...words }).catch(() => undefined);
      }
      if (!paused && events.some((event) => event.type === 'say' && event.say === 'command_output')) {
        paused = true;
        await update('pause');
        await update('unpause');
        await task.client.send(task.task, 'A word.');
        await update('rewind', '3');
      }
      await new Promise((done) => setTimeout(done, 50));
    }
    const failing = await play(world, answers([{ step: 'status', status: 401, headers: {} }]), {
      policy: { yolo: false, approve: [] },
    });
    const { ask } = await world.event(failing.task, isAsk);
    await failing.client.answer(failing.task, { ask: ask.id, answer: 'no' });
    await world.event(failing.task, isClosed);
    const limited = await play(world, answers([read('a.txt'), finish()]), { limits: { maxTurns: 5, softPercent: 20 } });
    await world.event(limited.task, isClosed);

    const lines: Record<string, unknown>[] = [];
    for (const one of [task, failing, limited]) {
      const { lines: log, code } = await world.cli(['log', one.task, '--json']);
      expect(code).toBe(0);
      expect(log).toHaveLength((await world.events(one.task)).length);
      lines.push(...log);
    }
    const run = (await follow).lines;
    expect(run[0]).toMatchObject({ type: 'task', task: task.task });
    expect(run.at(-1)).toMatchObject({ type: 'outcome', outcome: 'completed' });
    const own = run.slice(1, -1);
    expect(own.filter(({ type }) => type !== 'partial')).toEqual(
      lines.slice(0, (await world.events(task.task)).length),
    );
    for (const line of [...lines, ...own]) expect(() => checkLine(line), JSON.stringify(line)).not.toThrow();
    const seen = new Set(lines.map(kindOf));
    expect(ALL_KINDS.filter((kind) => !seen.has(kind))).toEqual(ELSEWHERE);
    expect(lines[0]).toEqual({ v: 1, ...eventLine((await world.events(task.task))[0]!) });
  }, 120_000);
});

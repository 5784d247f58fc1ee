import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  call,
  callraw,
  empty,
  type FakeModel,
  finish,
  redacted,
  type Step,
  say,
  stall,
  think,
} from '../../src/fake-model/index.js';
import { answers, completed, done, play } from '../support/playing.js';
import { resultsOf } from '../support/requests.js';
import { isAsk, isClosed, startWorld, type TestWorker, until, type World } from '../support/world.js';

const command = (text: string, more = {}) => call('execute_command', { command: text, requires_approval: false }, more);
const write = (path: string, content: string) => call('write_to_file', { path, content });
const SOME = { yolo: false, approve: ['read' as const, 'edit' as const, 'all' as const] };
const outside = join(mkdtempSync(join(tmpdir(), 'longhaul-outside-')), 'secret');
writeFileSync(outside, 'canary\n');

describe('an answer that is interrupted, and the one that follows it', () => {
  let world: World;
  let worker: TestWorker;
  beforeAll(async () => {
    world = await startWorld();
    worker = await world.worker();
  });
  afterAll(() => world.stop());

  const lines = (workspace: string, name: string) =>
    existsSync(join(workspace, name)) ? readFileSync(join(workspace, name), 'utf8').trimEnd().split('\n').length : 0;
  const sent = (model: FakeModel, at = -1) => JSON.stringify(model.requests.at(at)?.body);
  const closed = async (task: string, times: number) =>
    until(async () => (await world.events(task)).filter(({ event }) => isClosed(event)).length >= times, 60_000);

  it('by a denial of one call in the middle: what is announced already is skipped, what ran stays', async () => {
    const task = await play(
      world,
      answers([
        command('echo x >> first'),
        call('read_file', { path: outside }),
        command('echo x >> third'),
        write('fourth', 'x\n'),
        say('and so on', { half: true }),
        stall(),
      ]),
      { policy: SOME },
    );
    const { ask } = await world.event(task.task, isAsk);
    const handle = world.temporal.workflow.getHandle(task.task);
    const signals = async () =>
      ((await handle.fetchHistory()).events ?? []).filter((one) => one.workflowExecutionSignaledEventAttributes).length;
    await until(async () => (await signals()) === 4);
    await task.client.answer(task.task, { ask: ask.id, answer: 'no' });
    await completed(world, task);
    const results = resultsOf(task.model.requests[1]?.body);
    expect(results.map(({ error }) => error)).toEqual([false, true, true, true]);
    expect(results.slice(2).every(({ text }) => text.startsWith('Skipped'))).toBe(true);
    expect(sent(task.model)).toContain('[Response interrupted by user feedback]');
    expect(sent(task.model)).not.toContain('canary');
    expect(['first', 'third', 'fourth'].map((name) => lines(task.workspace, name))).toEqual([1, 0, 0]);
    expect(task.model.requests[0]?.ended?.by).toBe('client');
  });

  /** Aborts when `ready`, then says something: the request that follows has to be accepted, with a result for each call. */
  const abortAndGoOn = async (answer: Step[], ready: (task: string) => Promise<unknown>, policy = SOME) => {
    const task = await play(world, ({ turn }) => (turn === 0 ? answer : done), { policy });
    await ready(task.task);
    await task.client.abort(task.task);
    await closed(task.task, 1);
    await task.client.send(task.task, 'continue: token-7');
    await closed(task.task, 2);
    expect(task.model.refused()).toEqual([]);
    expect(sent(task.model)).toContain('token-7');
    const { messages } = task.model.requests.at(-1)!.body as { messages: { content: { type: string }[] }[] };
    const all = messages.flatMap(({ content }) => content.map(({ type }) => type));
    const results = all.filter((type) => type === 'tool_result').length;
    expect(results).toBe(all.filter((type) => type === 'tool_use').length);
    return { ...task, results };
  };
  const seen = (kind: string) => (task: string) =>
    world.seen(task, (event) => event.type === 'say' && event.say === kind);
  const asked = (task: string) => world.event(task, isAsk);

  it.each([
    ['before anything of it counts', [say('Let me see. '.repeat(9), { half: true }), stall()], 'partials', 0],
    [
      'while a call of it runs and it still streams',
      [command('sleep 30'), say('now', { half: true }), stall()],
      'command',
      1,
    ],
    ['before the second call, while it still streams', [command('true'), say('now'), stall()], 'command_output', 1],
    ['while its only call runs', [command('sleep 30'), finish()], 'command', 1],
    [
      'while a person is asked about a call',
      [call('read_file', { path: outside }), command('true'), finish()],
      'ask',
      2,
    ],
  ] as [string, Step[], string, number][])('by an abort %s', async (_, answer, when, calls) => {
    const ready: Record<string, (task: string) => Promise<unknown>> = {
      partials: (task) => until(async () => (await world.journal.readPartials(task, 0)).length > 0),
      ask: asked,
    };
    const { results } = await abortAndGoOn(answer, ready[when] ?? seen(when));
    expect(results).toBe(calls);
  });

  it('is followed by one in which ids of calls that came twice, in one answer and in two, are none', async () => {
    const task = await play(
      world,
      answers(
        [command('echo x >> a', { id: 'toolu_1' }), command('echo x >> b', { id: 'toolu_1' }), finish()],
        [command('echo x >> c', { id: 'toolu_1' }), finish()],
      ),
    );
    await completed(world, task);
    expect(['a', 'b', 'c'].map((name) => lines(task.workspace, name))).toEqual([1, 1, 1]);
    expect(resultsOf(task.model.requests[1]?.body)).toHaveLength(2);
  });

  it('holds arguments that are no JSON: each is answered with an error that says so, and sent back as an object', async () => {
    const bad = [
      '{"command":"grep \\H x"}',
      '{"command":"say "hi" now"}',
      '{"command":"a',
      '["command"]',
      '"command"',
      '{"command":"a"}}',
      'null',
    ];
    const task = await play(world, answers([...bad.map((json) => callraw('execute_command', json)), finish()]), {
      maxConsecutiveMistakes: 20,
    });
    await completed(world, task);
    const results = resultsOf(task.model.requests[1]?.body);
    expect(results).toHaveLength(bad.length);
    for (const { text, error } of results) expect([error, text]).toEqual([true, expect.stringContaining('JSON')]);
    expect(sent(task.model)).not.toContain('\\\\H x');
  });

  it('is never blank: not in the two requests after an empty answer, a blank one, and a command without output', async () => {
    const task = await play(
      world,
      answers([empty()], [say('\n'), finish()], [say(''), command('true'), finish()], [say('Hm.'), finish()]),
    );
    await completed(world, task);
    expect(task.model.requests).toHaveLength(5);
  });

  it('goes back with its reasoning byte for byte, also after its worker was killed between its calls', async () => {
    const slow = Array.from({ length: 10 }, (_, at) => [
      think(`Now for ${at} \u{1F98A} …`),
      command(`echo ${at} >> done; sleep 0.1`),
    ]).flat();
    const task = await play(
      world,
      answers([think('First.'), redacted('hidden'), ...slow, finish()], [command('true'), finish()]),
    );
    await until(() => lines(task.workspace, 'done') >= 5);
    await worker.kill9();
    worker = await world.worker();
    await completed(world, task);
    expect(lines(task.workspace, 'done')).toBe(10);
    const { messages } = task.model.requests.at(-1)!.body as { messages: { content: { type: string }[] }[] };
    const kinds = messages[1]?.content.map(({ type }) => type);
    expect(kinds?.filter((type) => type === 'thinking')).toHaveLength(11);
    expect(kinds?.filter((type) => type === 'redacted_thinking')).toHaveLength(1);
  });

  it('writes what stands in its arguments, byte for byte, whatever markup that holds', async () => {
    const pieces = [
      '<',
      '</content>',
      '<path>x</path>',
      '</write_to_file>',
      '```xml\n<tool>\n```',
      '\u0001\u001b[0m',
      '&lt;',
    ];
    const more = [']]>', '<![CDATA[', '\ttab', ' \u{1F98A}', '{{nothing}}', '\\', '"', '\n\n', '$&', '<thinking>'];
    const content = fc.array(fc.constantFrom(...pieces, ...more), { minLength: 1, maxLength: 30 });
    const contents = fc.sample(content, { numRuns: 20, seed: 7 }).map((parts) => `${parts.join('')}end\n`);
    const edit = `------- SEARCH\nend\n=======\n${contents[0]}+++++++ REPLACE\n`;
    const task = await play(
      world,
      answers(
        [...contents.map((text, at) => write(`f${at}`, text)), finish()],
        [write('edited', 'before\nend\nafter\n'), call('replace_in_file', { path: 'edited', diff: edit }), finish()],
      ),
    );
    await completed(world, task);
    const hash = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
    const found = contents.map((_, at) => hash(readFileSync(join(task.workspace, `f${at}`))));
    expect(found).toEqual(contents.map(hash));
    expect(readFileSync(join(task.workspace, 'edited'), 'utf8')).toBe(`before\n${contents[0]}after\n`);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { call, cut, finish, pace, type Step, say, think } from '../../src/fake-model/index.js';
import { answers, completed, play } from '../support/playing.js';
import { lastTexts, resultsOf } from '../support/requests.js';
import { isAsk, startWorld, type World } from '../support/world.js';

const tag = (tool: string, values: Record<string, string>) =>
  `<${tool}>\n${Object.entries(values)
    .map(([name, value]) => `<${name}>${value}</${name}>\n`)
    .join('')}</${tool}>`;
const write = (path: string, content: string) => tag('write_to_file', { path, content });
const done: Step[] = [say(tag('attempt_completion', { result: 'done' })), finish('end_turn')];
const text = { toolProtocol: 'text' } as const;

/** The parts of a request in which a model without tool calls of its own finds its tools. */
interface SentRequest {
  system: { text: string }[];
  tools?: unknown;
  messages: { role: string; content: { type: string; text?: string }[] }[];
}

describe('the text protocol', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  it('describes the tools in the system prompt, runs calls, and answers them in text', async () => {
    const turn = [
      say(`I look.\n${tag('read_file', { path: 'a' })}\n${tag('read_file', { path: 'gone' })}`),
      finish('end_turn'),
    ];
    const task = await play(world, answers(turn, done), { ...text, workspace: world.workspace({ a: 'one\n' }) });
    await completed(world, task);
    const [first, second] = task.model.requests.map(({ body }) => body as SentRequest);
    expect(first?.tools ?? []).toEqual([]);
    expect(first?.system.map((part) => part.text).join('')).toContain('## read_file');
    expect(second?.system).toEqual(first?.system);
    expect(second?.messages[1]?.content.map((block) => block.text).join('')).toBe(
      `I look.\n${tag('read_file', { path: 'a' })}\n${tag('read_file', { path: 'gone' })}`,
    );
    const [read, gone] = lastTexts(second);
    expect(read).toMatch(/^\[read_file for 'a'\] Result:\n[\s\S]*one/);
    expect(gone).toMatch(/^\[read_file for 'gone'\] Result:\n/);
  });

  it('writes files to the byte, whatever tags, fences and blank lines they hold', async () => {
    const content = [
      '\n\nfirst',
      '</content>',
      '<read_file><path>x</path></read_file>',
      '</write_to_file>',
      '<![CDATA[ ]]>',
      '```xml',
      write('nested', 'inner\n'),
      '```',
      '\u0001 &lt; $& \r\n\n',
    ].join('\n');
    const turn = [pace(0), say(`${write('out', `\n${content}`)}\n${write('b', 'plain')}`), finish('end_turn')];
    const task = await play(world, answers(turn, done), text);
    await completed(world, task);
    expect(readFileSync(join(task.workspace, 'out'), 'utf8')).toBe(content);
    expect(readFileSync(join(task.workspace, 'b'), 'utf8')).toBe('plain');
    expect(existsSync(join(task.workspace, 'nested'))).toBe(false);
  });

  it('shows no call and no thinking tag as text, and the conversation keeps the answer', async () => {
    const answer = `<thinking>hm</thinking>I write.\n${write('a', 'x')}`;
    const task = await play(world, answers([say(answer), finish('end_turn')], done), text);
    const events = await completed(world, task);
    const shown = events.flatMap((event) => (event.type === 'say' && event.say === 'text' ? [event.text] : []));
    expect(shown.map((one) => one.trim())).toEqual(['hmI write.']);
    const second = task.model.requests[1]?.body as SentRequest | undefined;
    expect(second?.messages[1]?.content.map((block) => block.text).join('')).toBe(answer);
  });

  it('skips what follows a refused call, and says so to each', async () => {
    const turn = [
      say(`${write('a', 'x')}\n${write('b', 'y')}\n${tag('read_file', { path: 'a' })}`),
      finish('end_turn'),
    ];
    const task = await play(world, answers(turn, done), {
      ...text,
      policy: { yolo: false, approve: [...DEFAULT_APPROVALS] },
    });
    const { ask } = await world.event(task.task, isAsk);
    await task.client.answer(task.task, { ask: ask.id, answer: 'no', text: 'not there' });
    await completed(world, task);
    const texts = lastTexts(task.model.requests[1]?.body);
    expect(texts[0]).toMatch(/^\[write_to_file for 'a'\] Result:\n[\s\S]*denied[\s\S]*not there/);
    expect(texts.slice(1, 3).every((one) => / Result:\n/.test(one))).toBe(true);
    expect(existsSync(join(task.workspace, 'a')) || existsSync(join(task.workspace, 'b'))).toBe(false);
  });

  it('never runs a call that the output limit or a lost connection has cut', async () => {
    const half = write('a', 'x\n').slice(0, -10);
    const task = await play(
      world,
      answers([say(half), finish('max_tokens')], [say(half), cut(1), ...done], done),
      text,
    );
    await completed(world, task);
    expect(existsSync(join(task.workspace, 'a'))).toBe(false);
    expect(lastTexts(task.model.requests[1]?.body)[0]).toMatch(/Result:\n[\s\S]*truncated/);
  });

  it('takes a call that comes in the form of the API, and reasoning with its signature', async () => {
    const turn = [think('Let me see.'), call('write_to_file', { path: 'a', content: 'x\n' }), finish()];
    const task = await play(world, answers(turn, done), text);
    await completed(world, task);
    expect(readFileSync(join(task.workspace, 'a'), 'utf8')).toBe('x\n');
    expect(resultsOf(task.model.requests[1]?.body)).toEqual([]);
    expect(lastTexts(task.model.requests[1]?.body)[0]).toMatch(/^\[write_to_file for 'a'\] Result:/);
  });

  it('leaves tags that are written in the native protocol alone', async () => {
    const task = await play(world, answers([say(write('a', 'x')), finish('end_turn')]));
    await completed(world, task);
    expect(existsSync(join(task.workspace, 'a'))).toBe(false);
  });
});

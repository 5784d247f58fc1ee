import Anthropic from '@anthropic-ai/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { type FakeModel, type FakeModelOptions, startFakeModel } from './fake-model.js';
import { postRaw } from './raw-client.js';
import { manyCalls } from './responders.js';
import { script } from './script.js';
import { call, finish, redacted, say, server, think } from './steps.js';

type Message = Anthropic.MessageParam;

let model: FakeModel;
afterEach(() => model.close());

async function start(options: FakeModelOptions) {
  model = await startFakeModel(options);
}

function ask(messages: Message[], more: object = {}) {
  const client = new Anthropic({ apiKey: 'any', baseURL: model.url, maxRetries: 0 });
  return client.messages.create({ model: 'claude', max_tokens: 100, messages, ...more }) as Promise<Anthropic.Message>;
}

const user = (content: Message['content']): Message => ({ role: 'user', content });
const assistant = (content: Message['content']): Message => ({ role: 'assistant', content });

/** A minimal agent: answers every call with `ok`. */
async function run(prompt: string, limit: number): Promise<Message[]> {
  const messages = [user(prompt)];
  for (let turn = 0; turn < limit; turn++) {
    const answer = await ask(messages);
    messages.push(assistant(answer.content));
    const calls = answer.content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0 || calls.some(({ name }) => name === 'attempt_completion')) return messages;
    messages.push(user(calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: `ok ${turn}` }))));
  }
  return messages;
}

describe('turns', () => {
  it('are chosen by the conversation alone, so that a server started anew goes on with it', async () => {
    const options = { script: 'call a {"n":"{{n}}"}\nfinish\nsay Turn {{n}}, after {{last}}.\nfinish' };
    await start(options);
    const messages = await run('Go', 1);
    const expected = await ask(messages);
    expect(expected.content).toEqual([{ type: 'text', text: 'Turn 2, after ok 0.' }]);
    await model.close();
    await start(options);
    expect((await ask(messages)).content).toEqual(expected.content);
    expect((await ask([user('Go')])).content).toMatchObject([{ name: 'a', input: { n: '1' } }]);
    expect((await ask([user('Go')])).content).toEqual(messages[1]?.content);
  });

  it('of many calls end with a completion, with nothing refused', async () => {
    await start({ responder: manyCalls(50, (i) => call('read_file', { path: `f${i}` })) });
    const messages = await run('Go', 100);
    expect(messages).toHaveLength(102);
    expect(messages.at(-1)?.content).toMatchObject([{ name: 'attempt_completion' }]);
    const ids = messages.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
    );
    expect(new Set(ids).size).toBe(51);
    expect(model.refused()).toEqual([]);
    expect(model.requests.map(({ turn }) => turn)).toEqual([...Array(51).keys()]);
    expect(new Set(model.requests.map(({ conversation }) => conversation)).size).toBe(1);
  });

  it('that the script does not have are refused loudly', async () => {
    await start({ script: script(say('Hello')) });
    await expect(ask([user('a'), assistant('Hello'), user('b')])).rejects.toThrow('no answer for turn 2');
    expect(model.refused()[0]?.verdict).toMatchObject({ rules: ['no-turn'] });
  });

  it('come from the branch whose pattern the first message matches', async () => {
    await start({ script: 'for /child/\nsay c\nfinish\nfor /./\nsay p {{user}}\nfinish' });
    expect((await ask([user('the child')])).content).toMatchObject([{ text: 'c' }]);
    expect((await ask([user('the\nparent')])).content).toMatchObject([{ text: 'p the parent' }]);
  });
});

describe('what was sent', () => {
  const thinking = [think('One.'), redacted('two'), call('a'), think('Three.'), call('b'), finish()];

  async function answerTo(prompt: string) {
    const { content } = await ask([user(prompt)]);
    const results = content.flatMap((block) =>
      block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'ok' }] : [],
    );
    const back = (blocks: Message['content'], count = results.length) =>
      ask([user(prompt), assistant(blocks), user(results.slice(0, count))]);
    return { content, back };
  }

  it('is taken back as it was', async () => {
    await start({ responder: ({ turn }) => (turn === 0 ? thinking : [say('x')]) });
    const { content, back } = await answerTo('Go');
    expect((await back(content)).content).toMatchObject([{ text: 'x' }]);
    expect((await back(content.slice(0, 3), 1)).content).toMatchObject([{ text: 'x' }]);
    expect(model.refused()).toEqual([]);
  });

  it.each([
    ['a thinking block left out', (blocks: Anthropic.ContentBlock[]) => blocks.slice(1)],
    ['all of them left out', (blocks: Anthropic.ContentBlock[]) => blocks.filter(({ type }) => type === 'tool_use')],
    ['the second one left out', (blocks: Anthropic.ContentBlock[]) => blocks.filter((_, at) => at !== 3)],
    ['their order changed', ([a, b, ...rest]: Anthropic.ContentBlock[]) => [b, a, ...rest] as Anthropic.ContentBlock[]],
    ['one of them twice', ([a, ...rest]: Anthropic.ContentBlock[]) => [a, a, ...rest] as Anthropic.ContentBlock[]],
  ])('is refused with %s', async (_what, change) => {
    await start({ responder: ({ turn }) => (turn === 0 ? thinking : [say('x')]) });
    const { content, back } = await answerTo('Go');
    await expect(back(change(content))).rejects.toMatchObject({ status: 400 });
    expect(model.refused()[0]?.verdict).toMatchObject({ rules: ['V6'] });
  });

  it('in an open call of the provider comes back unchanged', async () => {
    await start({
      responder: ({ turn }) => (turn === 0 ? [server('web_search', { query: 'q' }), finish('pause_turn')] : [say('x')]),
    });
    const { content } = await ask([user('Go')]);
    expect((await ask([user('Go'), assistant(content)])).content).toMatchObject([{ text: 'x' }]);
    const changed = [{ ...content[0], input: { query: 'other' } }] as Anthropic.ContentBlock[];
    await expect(ask([user('Go'), assistant(changed)])).rejects.toMatchObject({ status: 400 });
    await expect(ask([user('Go'), assistant('Searching')])).rejects.toMatchObject({ status: 400 });
    expect(model.refused().map(({ verdict }) => verdict)).toMatchObject([{ rules: ['V10'] }, { rules: ['V10'] }]);
  });
});

describe('usage', () => {
  it('counts a marked prefix as written once, then as read', async () => {
    await start({ responder: () => [say('x')] });
    const mark = { cache_control: { type: 'ephemeral' as const } };
    const system = [{ type: 'text' as const, text: 'Rules. '.repeat(200), ...mark }];
    const first = await ask([user([{ type: 'text', text: 'Go', ...mark }])], { system });
    const second = await ask([user('Go'), assistant('x'), user([{ type: 'text', text: 'More', ...mark }])], { system });
    const plain = await ask([user('Go')], { system: 'Rules. '.repeat(200) });
    expect(first.usage).toMatchObject({ cache_read_input_tokens: 0, input_tokens: 0 });
    expect(first.usage.cache_creation_input_tokens).toBeGreaterThan(350);
    expect(second.usage.cache_read_input_tokens).toBe(first.usage.cache_creation_input_tokens);
    expect(second.usage.cache_creation_input_tokens).toBeGreaterThan(0);
    expect(second.usage.cache_creation_input_tokens).toBeLessThan(50);
    expect(plain.usage).toMatchObject({
      input_tokens: first.usage.cache_creation_input_tokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    });
  });
});

describe('records', () => {
  it('hold each request, keep the latest bodies, and can be read from outside', async () => {
    const ended: number[] = [];
    await start({ responder: () => [say('x')], keepBytes: 1, onEnd: ({ number }) => ended.push(number) });
    await ask([user('one')]);
    await ask([user('two')]);
    await model.until((requests) => requests.filter(({ ended: end }) => end).length === 2);
    expect(model.requests.map(({ body }) => body)).toMatchObject([undefined, { messages: [user('two')] }]);
    expect(model.requests[1]).toMatchObject({
      number: 2,
      path: '/v1/messages',
      verdict: { kind: 'answered', stop: 'end_turn' },
      ended: { by: 'server' },
    });
    expect(ended).toEqual([1, 2]);
    const listed = (await (await fetch(`${model.url}/fake/requests`)).json()) as object[];
    expect(listed).toMatchObject([{ number: 1 }, { number: 2 }]);
    expect(JSON.stringify(listed)).not.toContain('"two"');
    expect(await (await fetch(`${model.url}/fake/requests?bodies`)).text()).toContain('"two"');
  });

  it('says when something was not seen in time', async () => {
    await start({ responder: () => [] });
    await expect(model.until(() => false, 10)).rejects.toThrow('0 requests so far');
  });

  it('shows a connection that the server itself has ended', async () => {
    await start({ script: 'stall' });
    const asked = postRaw(model.url, { model: 'm', max_tokens: 1, stream: true, messages: [user('Hi')] });
    await model.until(([first]) => first?.verdict.kind === 'fault');
    await model.close();
    await asked.catch(() => undefined);
    expect(model.requests[0]?.ended?.by).toBe('server');
  });
});

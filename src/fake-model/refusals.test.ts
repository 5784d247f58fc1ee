import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeModel, startFakeModel } from './fake-model.js';
import { makePng } from './image.js';
import { postRaw } from './raw-client.js';
import type { Rule } from './rules.js';
import { seal, sign } from './signature.js';

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const use = (id: string, name = 'read_file') => ({ type: 'tool_use', id, name, input: {} });
const result = (id: string, content: unknown = 'ok') => ({ type: 'tool_result', tool_use_id: id, content });
const text = (value: string) => ({ type: 'text', text: value });
const tool = (more: object = {}) => ({ name: 'read_file', input_schema: { type: 'object' }, ...more });
const mark = { cache_control: { type: 'ephemeral' } };
const search = (id: string) => ({ type: 'server_tool_use', id, name: 'web_search', input: { query: 'q' } });
const found = (id: string) => ({ type: 'web_search_tool_result', tool_use_id: id, content: [] });
const image = (data: string, mediaType = 'image/png') => ({
  type: 'image',
  source: { type: 'base64', media_type: mediaType, data },
});
let conversations = 0;
/** Each a conversation of its own, so that nothing was sent in it before. */
const ask = (...messages: unknown[]) => ({ messages: [user(`Hi ${++conversations}`), ...messages] });
const PNG = makePng(4, 4);

/** For each rule a request that passes, and one that differs in what the rule is about. */
const CASES: [Rule, string, object, object][] = [
  [
    'V1',
    'a call without a result',
    ask(assistant([use('a')]), user([result('a')])),
    ask(assistant([use('a')]), user('go on')),
  ],
  [
    'V1',
    'one of two calls without a result',
    ask(assistant([use('a'), use('b')]), user([result('b'), result('a')])),
    ask(assistant([use('a'), use('b')]), user([result('a')])),
  ],
  ['V1', 'a call at the end', ask(assistant('a')), ask(assistant([use('a')]))],
  [
    'V1',
    'text before a result',
    ask(assistant([use('a')]), user([result('a'), text('x')])),
    ask(assistant([use('a')]), user([text('x'), result('a')])),
  ],
  [
    'V1',
    'a result one message late',
    ask(assistant([use('a')]), user([result('a')]), user('x')),
    ask(assistant([use('a')]), user('x'), user([result('a')])),
  ],
  ['V2', 'a result without a call', ask(assistant('a'), user('b')), ask(assistant('a'), user([result('a')]))],
  [
    'V2',
    'a result of an older call',
    ask(assistant([use('a')]), user([result('a')]), assistant('x'), user('y')),
    ask(assistant([use('a')]), user([result('a')]), assistant('x'), user([result('a')])),
  ],
  [
    'V3',
    'an id used twice in one answer',
    ask(assistant([use('a'), use('b')]), user([result('a'), result('b')])),
    ask(assistant([use('a'), use('a')]), user([result('a')])),
  ],
  [
    'V3',
    'an id used in two answers',
    ask(assistant([use('a')]), user([result('a')]), assistant([use('b')]), user([result('b')])),
    ask(assistant([use('a')]), user([result('a')]), assistant([use('a')]), user([result('a')])),
  ],
  [
    'V4',
    'two results of one call',
    ask(assistant([use('a')]), user([result('a')])),
    ask(assistant([use('a')]), user([result('a'), result('a')])),
  ],
  ['V5', 'an empty text block', ask(assistant([text('a')]), user('b')), ask(assistant([text('')]), user('b'))],
  ['V5', 'a blank string', ask(assistant('a'), user('b')), ask(assistant('a'), user(' \n'))],
  [
    'V5',
    'a blank text in a result',
    ask(assistant([use('a')]), user([result('a', [text('x')])])),
    ask(assistant([use('a')]), user([result('a', [text('\n')])])),
  ],
  [
    'V5',
    'an empty string as a result',
    ask(assistant([use('a')]), user([result('a', 'x')])),
    ask(assistant([use('a')]), user([result('a', '')])),
  ],
  ['V5', 'a blank system prompt', { system: 'a' }, { system: [text(' ')] }],
  [
    'V6',
    'changed thinking',
    ask(assistant([{ type: 'thinking', thinking: 'I see', signature: sign('I see') }, text('a')]), user('b')),
    ask(assistant([{ type: 'thinking', thinking: 'I saw', signature: sign('I see') }, text('a')]), user('b')),
  ],
  [
    'V6',
    'emptied thinking',
    ask(assistant([{ type: 'thinking', thinking: '', signature: sign('') }, text('a')]), user('b')),
    ask(assistant([{ type: 'thinking', thinking: '', signature: sign('I see') }, text('a')]), user('b')),
  ],
  [
    'V6',
    'changed redacted thinking',
    ask(assistant([{ type: 'redacted_thinking', data: seal('x') }, text('a')]), user('b')),
    ask(assistant([{ type: 'redacted_thinking', data: `A${seal('x').slice(1)}` }, text('a')]), user('b')),
  ],
  [
    'V6',
    'thinking at the end of an answer',
    ask(assistant([{ type: 'thinking', thinking: 't', signature: sign('t') }, text('a')]), user('b')),
    ask(assistant([text('a'), { type: 'thinking', thinking: 't', signature: sign('t') }]), user('b')),
  ],
  [
    'V7',
    'white space at the end',
    ask(assistant('a'), user('b'), assistant('c d')),
    ask(assistant('a'), user('b'), assistant('c d ')),
  ],
  ['V8', 'a tool name with a dot', { tools: [tool({ name: 'a-b_C9' })] }, { tools: [tool({ name: 'a.b' })] }],
  [
    'V8',
    'a tool name of 65 characters',
    { tools: [tool({ name: 'x'.repeat(64) })] },
    { tools: [tool({ name: 'x'.repeat(65) })] },
  ],
  ['V8', 'two tools of one name', { tools: [tool(), tool({ name: 'b' })] }, { tools: [tool(), tool()] }],
  [
    'V8',
    'a call of an impossible name',
    ask(assistant([use('a')]), user([result('a')])),
    ask(assistant([use('a', 'a b')]), user([result('a')])),
  ],
  ['V9', 'a schema of another type', { tools: [tool()] }, { tools: [tool({ input_schema: { type: 'string' } })] }],
  ['V9', 'a schema without a type', { tools: [tool()] }, { tools: [tool({ input_schema: {} })] }],
  [
    'V9',
    'anyOf at the top',
    { tools: [tool({ input_schema: { type: 'object', properties: { a: { anyOf: [] } } } })] },
    { tools: [tool({ input_schema: { type: 'object', anyOf: [] } })] },
  ],
  [
    'V9',
    'an impossible property name',
    { tools: [tool({ input_schema: { type: 'object', properties: { 'a.b': {} } } })] },
    { tools: [tool({ input_schema: { type: 'object', properties: { 'a b': {} } } })] },
  ],
  [
    'V10',
    'an open provider call that was left behind',
    ask(assistant([search('srvtoolu_1'), found('srvtoolu_1'), text('a')]), user('b')),
    ask(assistant([search('srvtoolu_1'), text('a')]), user('b')),
  ],
  [
    'V10',
    'a provider result without its call',
    ask(assistant([search('srvtoolu_1')])),
    ask(assistant([text('a'), found('srvtoolu_1')])),
  ],
  [
    'V11',
    'an image cut short',
    { messages: [user([image(PNG.toString('base64'))])] },
    { messages: [user([image(PNG.subarray(0, 50).toString('base64'))])] },
  ],
  [
    'V11',
    'an image of another type',
    { messages: [user([image(PNG.toString('base64'))])] },
    { messages: [user([image(PNG.toString('base64'), 'image/jpeg')])] },
  ],
  [
    'V11',
    'an image that is not base64',
    ask(assistant([use('a')]), user([result('a', [image(PNG.toString('base64'))])])),
    ask(assistant([use('a')]), user([result('a', [image(`*${PNG.toString('base64')}`)])])),
  ],
  [
    'V11',
    'an image with a side that is too long',
    { messages: [user([image(makePng(8000, 1).toString('base64'))])] },
    { messages: [user([image(makePng(8001, 1).toString('base64'))])] },
  ],
  [
    'first-message',
    'the assistant first',
    { messages: [user('a'), assistant('b')] },
    { messages: [assistant('b'), user('a')] },
  ],
  ['empty-message', 'a message without content', ask(assistant('b'), user('c')), ask(assistant([]), user('c'))],
  [
    'cache-marks',
    'five marks',
    {
      system: [{ ...text('s'), ...mark }],
      tools: [tool(mark)],
      messages: [
        user([
          { ...text('a'), ...mark },
          { ...text('b'), ...mark },
        ]),
      ],
    },
    {
      system: [{ ...text('s'), ...mark }],
      tools: [tool(mark)],
      messages: [user([1, 2, 3].map((n) => ({ ...text(`${n}`), ...mark })))],
    },
  ],
  ['max-tokens', 'no max_tokens', {}, { max_tokens: undefined }],
  ['shape', 'max_tokens of nothing', { max_tokens: 1 }, { max_tokens: 0 }],
  ['shape', 'less than no max_tokens', { max_tokens: 1 }, { max_tokens: -1 }],
  ['shape', 'max_tokens that are not whole', { max_tokens: 1024 }, { max_tokens: 1024.5 }],
  [
    'thinking',
    'max_tokens within the thinking budget',
    { max_tokens: 1025, thinking: { type: 'enabled', budget_tokens: 1024 } },
    { max_tokens: 1024, thinking: { type: 'enabled', budget_tokens: 1024 } },
  ],
  [
    'thinking',
    'a small thinking budget',
    { max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1024 } },
    { max_tokens: 2000, thinking: { type: 'enabled', budget_tokens: 1023 } },
  ],
  [
    'thinking',
    'a forced tool while thinking',
    { thinking: { type: 'adaptive' }, tools: [tool()], tool_choice: { type: 'auto' } },
    { thinking: { type: 'adaptive' }, tools: [tool()], tool_choice: { type: 'any' } },
  ],
  [
    'tool-choice',
    'a choice of no tools',
    { tools: [tool()], tool_choice: { type: 'any' } },
    { tool_choice: { type: 'any' } },
  ],
  [
    'tool-choice',
    'a choice of a tool that is not there',
    { tools: [tool()], tool_choice: { type: 'tool', name: 'read_file' } },
    { tools: [tool()], tool_choice: { type: 'tool', name: 'x' } },
  ],
  ['shape', 'an unknown field', {}, { maxTokens: 5 }],
  [
    'shape',
    'an image in the result of a call that failed',
    ask(assistant([use('a')]), user([result('a', [image(PNG.toString('base64'))])])),
    ask(assistant([use('a')]), user([{ ...result('a', [image(PNG.toString('base64'))]), is_error: true }])),
  ],
  [
    'shape',
    'an unknown field of a block',
    ask(assistant([use('a')]), user([result('a')])),
    ask(assistant([{ ...use('a'), block: 0 }]), user([result('a')])),
  ],
  [
    'shape',
    'arguments that are no object',
    ask(assistant([use('a')]), user([result('a')])),
    ask(assistant([{ ...use('a'), input: '{}' }]), user([result('a')])),
  ],
  ['shape', 'a call by the user', ask(assistant('a'), user('b')), ask(assistant('a'), user([use('a')]))],
  ['shape', 'an unknown block', ask(assistant('a')), ask(assistant([{ type: 'tool_call' }]))],
  ['window', 'too much input', { system: 'x'.repeat(7000) }, { system: 'x'.repeat(9000) }],
  ['model', 'an unknown model', {}, { model: 'other' }],
];

describe('what the fake model refuses', () => {
  let model: FakeModel;
  beforeAll(async () => {
    model = await startFakeModel({ responder: () => [], window: 2000, models: ['claude'], apiKey: 'right' });
  });
  afterAll(() => model.close());

  const send = (change: object, more: Parameters<typeof postRaw>[2] = {}) =>
    postRaw(
      model.url,
      { model: 'claude', max_tokens: 100, messages: [user('Hi')], ...change },
      { ...more, headers: { 'x-api-key': 'right', ...more.headers } },
    );

  it.each(CASES)('%s: %s', async (rule, _name, good, bad) => {
    const passed = await send(good);
    expect([passed.status, passed.text]).toEqual([200, expect.any(String)]);
    for (let attempt = 0; attempt < 2; attempt++) {
      const refused = await send(bad);
      const { error } = JSON.parse(refused.text) as { error: { type: string; message: string } };
      expect(error.type).toBe(rule === 'model' ? 'not_found_error' : 'invalid_request_error');
      expect(refused.status).toBe(rule === 'model' ? 404 : 400);
      expect(model.requests.at(-1)?.verdict).toMatchObject({ kind: 'refused', message: error.message });
      expect(rulesOf(model)).toContain(rule);
    }
  });
});

function rulesOf(model: FakeModel): Rule[] {
  const verdict = model.requests.at(-1)?.verdict;
  return verdict?.kind === 'refused' ? verdict.rules : [];
}

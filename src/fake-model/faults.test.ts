import Anthropic from '@anthropic-ai/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { type FakeModel, startFakeModel } from './fake-model.js';
import { postRaw } from './raw-client.js';

const REQUEST = { model: 'claude', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] };

let model: FakeModel;
afterEach(() => model.close());

async function play(script: string, request: object = { stream: true }) {
  model = await startFakeModel({ script });
  return postRaw(model.url, { ...REQUEST, ...request });
}

function sdk() {
  return new Anthropic({ apiKey: 'any', baseURL: model.url, maxRetries: 0 });
}

/** What the SDK's event iterator yields, and the error that it ends with. */
async function iterate(): Promise<{ types: string[]; error: unknown }> {
  const types: string[] = [];
  try {
    for await (const event of await sdk().messages.create({ ...REQUEST, stream: true })) types.push(event.type);
    return { types, error: undefined };
  } catch (error) {
    return { types, error };
  }
}

function typesOf(events: Record<string, unknown>[]): unknown[] {
  return events.map(({ type }) => type);
}

function textOf(events: Record<string, unknown>[], field: string): string {
  return events.map(({ delta }) => (delta as Record<string, string> | undefined)?.[field] ?? '').join('');
}

describe('an answer', () => {
  const whole = 'think Hm.\nsay Hello there.\ncall read_file {"path":"a"}\ncall now\nfinish';

  it('is streamed in the events of the Messages API', async () => {
    const { events, status, broken } = await play(whole);
    expect([status, broken]).toEqual([200, false]);
    expect(typesOf(events).filter((type) => type !== 'content_block_delta')).toEqual([
      'message_start',
      ...Array.from({ length: 4 }, () => ['content_block_start', 'content_block_stop']).flat(),
      'message_delta',
      'message_stop',
    ]);
    expect(textOf(events, 'thinking')).toBe('Hm.');
    expect(textOf(events, 'text')).toBe('Hello there.');
    expect(textOf(events, 'partial_json')).toBe('{"path":"a"}');
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } });
    expect(model.requests[0]).toMatchObject({ verdict: { kind: 'answered', stop: 'tool_use' }, events: events.length });
  });

  it('is the same through the SDK, streamed or not', async () => {
    await play(whole);
    const streamed = await sdk().messages.stream(REQUEST).finalMessage();
    const plain = await sdk().messages.create(REQUEST);
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: expect.stringMatching(/.{40}/) },
      { type: 'text', text: 'Hello there.' },
      { type: 'tool_use', id: expect.stringMatching(/^toolu_/), name: 'read_file', input: { path: 'a' } },
      { type: 'tool_use', id: expect.stringMatching(/^toolu_/), name: 'now', input: {} },
    ];
    expect(plain.content).toMatchObject(content);
    expect(streamed.content).toMatchObject(content);
    expect(streamed.content).toEqual(plain.content);
    expect([streamed.stop_reason, streamed.usage]).toEqual([plain.stop_reason, plain.usage]);
  });

  it('takes the usage that the script says', async () => {
    const numbers =
      '{"input_tokens":9,"cache_creation_input_tokens":300,"cache_read_input_tokens":17000,"output_tokens":50}';
    const { events } = await play(`usage ${numbers}\nsay x\nfinish`);
    expect(events[0]).toMatchObject({ message: { usage: { ...JSON.parse(numbers), output_tokens: 1 } } });
    expect(events.at(-2)).toMatchObject({ usage: JSON.parse(numbers) });
  });

  it('can repeat an id, and stream arguments that are not JSON', async () => {
    const { events } = await play('id toolu_x\ncall a\nid toolu_x\ncallraw b {"a":"\\H"}\nfinish');
    const ids = events.map(({ content_block: block }) => (block as { id?: string } | undefined)?.id).filter(Boolean);
    expect(ids).toEqual(['toolu_x', 'toolu_x']);
    expect(textOf(events, 'partial_json')).toBe('{"a":"\\H"}');
  });

  it.each(['max_tokens', 'refusal', 'pause_turn', 'finish stop_sequence', 'finish model_context_window_exceeded'])(
    'ends with %s',
    async (line) => {
      const { events } = await play(`say x\n${line}`);
      expect(events.at(-2)).toMatchObject({ delta: { stop_reason: line.replace('finish ', '') } });
      expect(events.at(-1)).toEqual({ type: 'message_stop' });
    },
  );

  it('can be cut inside a call by the output limit', async () => {
    const { events } = await play('half callraw write {"path":"a","content":"<html>"}\nmax_tokens');
    expect(textOf(events, 'partial_json')).toBe('{"path":"a","co');
    expect(typesOf(events).slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop']);
  });

  it('can be empty, or hold blank text', async () => {
    const empty = await play('empty');
    expect(typesOf(empty.events)).toEqual(['message_start', 'message_delta', 'message_stop']);
    await model.close();
    const blank = await play('say "\\n"\nfinish', {});
    expect(JSON.parse(blank.text)).toMatchObject({ content: [{ type: 'text', text: '\n' }], stop_reason: 'end_turn' });
  });

  it('can hold any event', async () => {
    const { events } = await play('raw {"type":"content_block_stop","index":0}\nrefusal');
    expect(typesOf(events)).toEqual(['content_block_stop', 'message_start', 'message_delta', 'message_stop']);
  });

  it('pings inside an open block, and waits', async () => {
    const { events } = await play('half think Let me think about it.\nping 3 5ms\nsay Done.\nfinish');
    expect(typesOf(events).filter((type) => type === 'ping')).toHaveLength(3);
    expect(typesOf(events).indexOf('ping')).toBeLessThan(typesOf(events).indexOf('content_block_stop'));
    expect(textOf(events, 'signature')).not.toBe('');
    await model.close();
    const started = Date.now();
    await play('delay 120ms\npace 30ms\nsay "0123456789012345678901234567890123456789012345678901234567890"\nfinish');
    expect(Date.now() - started).toBeGreaterThanOrEqual(200);
  });
});

describe('a fault', () => {
  it('cut resets the connection after what was sent has arrived', async () => {
    const { events, broken } = await play('say One two three four five six.\nhalf call x {"path":"abc"}\ncut');
    expect(broken).toBe(true);
    expect(textOf(events, 'text')).toBe('One two three four five six.');
    expect(textOf(events, 'partial_json')).toBe('{"path"');
    expect(typesOf(events).at(-1)).toBe('content_block_delta');
    await model.until(([first]) => first?.ended !== undefined);
    expect(model.requests[0]).toMatchObject({ verdict: { kind: 'fault', fault: 'cut' }, ended: { by: 'server' } });
    const { types, error } = await iterate();
    expect(types).toHaveLength(events.length);
    expect(error).toBeInstanceOf(Error);
    await expect(sdk().messages.create(REQUEST)).rejects.toThrow(Anthropic.APIConnectionError);
  });

  it('cut first leaves no answer at all', async () => {
    await expect(play('cut')).rejects.toThrow('fetch failed');
  });

  it('close ends the body without message_stop, which the SDK takes for an end', async () => {
    const { events, broken } = await play('say Hello.\nclose');
    expect([broken, typesOf(events).at(-1)]).toEqual([false, 'content_block_stop']);
    expect(await iterate()).toEqual({ types: typesOf(events), error: undefined });
    expect(model.requests[0]?.verdict).toEqual({ kind: 'fault', fault: 'close' });
  });

  it('overloaded and other errors come in the stream', async () => {
    const { events, status } = await play('say Hello.\noverloaded');
    expect(status).toBe(200);
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
    const { error } = await iterate();
    expect(error).toBeInstanceOf(Anthropic.APIError);
    await expect(sdk().messages.create(REQUEST)).rejects.toMatchObject({ status: 529 });
    await model.close();
    const before = await play('error rate_limit_error');
    expect(typesOf(before.events)).toEqual(['message_start', 'error']);
  });

  it.each([
    ['status 429 retry-after=2', 429, 'rate_limit_error'],
    ['status 529', 529, 'overloaded_error'],
    ['status 500', 500, 'api_error'],
    ['status 503', 503, 'api_error'],
    ['status 400', 400, 'invalid_request_error'],
  ])('%s is an HTTP error', async (line, status, type) => {
    const answer = await play(line);
    expect([answer.status, JSON.parse(answer.text).error.type]).toEqual([status, type]);
    expect(answer.headers.get('retry-after')).toBe(line.includes('retry') ? '2' : null);
    expect((await iterate()).error).toMatchObject({ status });
    expect(model.refused()).toEqual([]);
  });

  it('an error says what the script wants', async () => {
    const { text } = await play(
      'status 400 x-test=1 x1 : Your credit balance is too low\nerror api_error : "It said: no"',
    );
    expect(JSON.parse(text).error.message).toBe('Your credit balance is too low');
    const { events } = await postRaw(model.url, { ...REQUEST, stream: true });
    expect(events.at(-1)).toMatchObject({ error: { type: 'api_error', message: 'It said: no' } });
  });

  it('html is a page of a proxy', async () => {
    const answer = await play('html 502');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([502, 'text/html']);
    expect(answer.text).toContain('<html>');
    expect((await iterate()).error).toMatchObject({ status: 502 });
  });

  it.each([
    ['in the middle', 'say Hello.\nstall', 5],
    ['before anything', 'stall', 0],
  ])('stall %s is silence, and the end of the connection is noticed at once', async (_where, script, events) => {
    model = await startFakeModel({ script });
    const leave = new AbortController();
    const asked = postRaw(model.url, { ...REQUEST, stream: true }, { signal: leave.signal }).catch(() => undefined);
    await model.until(([first]) => first?.verdict.kind === 'fault');
    expect(model.requests[0]).toMatchObject({ verdict: { kind: 'fault', fault: 'stall' } });
    expect(model.requests[0]?.ended).toBeUndefined();
    expect(model.requests[0]?.events).toBeLessThanOrEqual(events);
    const left = Date.now();
    leave.abort();
    await model.until(([first]) => first?.ended !== undefined, 1000);
    expect(model.requests[0]?.ended?.by).toBe('client');
    expect((model.requests[0]?.ended?.at ?? 0) - left).toBeLessThan(1000);
    await asked;
  });

  it('a client that leaves while the server waits is noticed at once, too', async () => {
    model = await startFakeModel({ script: 'say Hello.\ndelay 1h\nfinish' });
    const stream = sdk().messages.stream(REQUEST);
    stream.on('error', () => undefined);
    stream.on('abort', () => undefined);
    await model.until(([first]) => (first?.events ?? 0) > 0 || first?.ended !== undefined);
    stream.abort();
    await model.until(([first]) => first?.ended !== undefined, 1000);
    expect(model.requests[0]).toMatchObject({ verdict: { kind: 'aborted' }, ended: { by: 'client' } });
  });
});

describe('a fault with strikes', () => {
  it('strikes so often, and then lets the answer go on, each in its turn', async () => {
    const script = 'status 529 x2\nhalf say Hello there.\ncut x1\nfinish\nstatus 500 x1\nsay Bye.\nfinish';
    const first = await play(script);
    const post = (request: object) => postRaw(model.url, { ...REQUEST, stream: true, ...request });
    const second = await post({});
    const third = await post({});
    const fourth = await post({});
    expect([first.status, second.status, third.status, fourth.status]).toEqual([529, 529, 200, 200]);
    expect([third.broken, textOf(third.events, 'text')]).toEqual([true, 'Hello ']);
    expect([fourth.broken, textOf(fourth.events, 'text')]).toEqual([false, 'Hello there.']);
    const next = {
      messages: [...REQUEST.messages, { role: 'assistant', content: 'Hello there.' }, { role: 'user', content: 'x' }],
    };
    expect((await post(next)).status).toBe(500);
    expect(textOf((await post(next)).events, 'text')).toBe('Bye.');
    expect(textOf((await post({})).events, 'text')).toBe('Hello there.');
    const other = await post({ messages: [{ role: 'user', content: 'Another conversation' }] });
    expect(other.status).toBe(529);
  });
});

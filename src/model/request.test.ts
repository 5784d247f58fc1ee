import { describe, expect, it } from 'vitest';
import type { Message } from '../domain/blocks.js';
import { costOf, modelInfo } from './prices.js';
import { prepareRequest } from './request.js';

const tools = ['a', 'b'].map((name) => ({ name, description: name, input_schema: { type: 'object' as const } }));
const user = (text: string): Message => ({
  role: 'user',
  content: [
    { type: 'text', text: 'first' },
    { type: 'text', text },
  ],
});
const assistant = (text: string): Message => ({ role: 'assistant', content: [{ type: 'text', text }] });
const whole = (...messages: Message[]) => ({ messages, skipped: 0 });
const count = (value: unknown) => JSON.stringify(value).split('cache_control').length - 1;

describe('prepareRequest', () => {
  const model = modelInfo('claude-sonnet-5');

  it('marks the last tool, the system prompt and the last two user messages', () => {
    const { body } = prepareRequest(
      model,
      'sys',
      tools,
      whole(user('1'), assistant('2'), user('3'), assistant('4'), user('5')),
    );
    expect([count(body.tools?.[0]), count(body.tools?.[1]), count(body.system)]).toEqual([0, 1, 1]);
    expect(body.messages.map(count)).toEqual([0, 0, 1, 0, 1]);
    expect(body.messages[4]?.content).toMatchObject([
      { text: 'first' },
      { text: '5', cache_control: { type: 'ephemeral' } },
    ]);
  });

  it('begins with the same bytes when the conversation grows', () => {
    const strip = (value: unknown) => JSON.stringify(value).replaceAll(',"cache_control":{"type":"ephemeral"}', '');
    const short = [user('1'), assistant('2'), user('3')];
    const one = prepareRequest(model, 'sys', tools, whole(...short)).body;
    const two = prepareRequest(model, 'sys', tools, whole(...short, assistant('4'), user('5'))).body;
    expect(strip(two.messages).startsWith(strip(one.messages).slice(0, -1))).toBe(true);
    expect(strip([two.tools, two.system])).toBe(strip([one.tools, one.system]));
  });
});

describe('prices', () => {
  it('charges each column once', () => {
    const usage = { inputTokens: 9, outputTokens: 50, cacheWriteTokens: 300, cacheReadTokens: 17_000 };
    const byHand = (9 * 3 + 50 * 15 + 300 * 3.75 + 17_000 * 0.3) / 1e6;
    expect(costOf(modelInfo('claude-sonnet-4-6'), usage)).toBeCloseTo(byHand, 12);
  });

  it('charges a long request of a 1M model by the upper tier', () => {
    const usage = { inputTokens: 200_001, outputTokens: 0, cacheWriteTokens: 0, cacheReadTokens: 0 };
    expect(costOf(modelInfo('claude-opus-4-6:1m'), usage)).toBeCloseTo(2.00001, 9);
    expect(modelInfo('claude-opus-4-6:1m')).toMatchObject({ api: 'claude-opus-4-6', window: 1_000_000 });
    expect(modelInfo('claude-haiku-4-5-20251001:1m').window).toBe(200_000);
  });
});

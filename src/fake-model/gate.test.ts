import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeModel, startFakeModel } from './fake-model.js';
import { postRaw } from './raw-client.js';

describe('access to the fake model', () => {
  let model: FakeModel;
  beforeAll(async () => {
    model = await startFakeModel({ responder: () => [], models: ['claude'], apiKey: 'right' });
  });
  afterAll(() => model.close());

  const user = (content: unknown) => ({ role: 'user', content });
  const send = (change: object, more: Parameters<typeof postRaw>[2] = {}) =>
    postRaw(
      model.url,
      { model: 'claude', max_tokens: 100, messages: [user('Hi')], ...change },
      { ...more, headers: { 'x-api-key': 'right', ...more.headers } },
    );

  it.each([
    ['key', 401, { 'x-api-key': 'wrong' }],
    ['key', 401, { 'x-api-key': '' }],
    ['version', 400, { 'anthropic-version': '2020-01-01' }],
    ['json', 400, { 'content-type': 'text/plain' }],
  ])('%s: headers that are missing or wrong (%i)', async (rule, status, headers) => {
    expect((await send({}, { headers })).status).toBe(status);
    expect(model.requests.at(-1)?.verdict).toMatchObject({ kind: 'refused', rules: [rule] });
  });

  it('removed: sampling parameters and citations, from version 2026-10-21 on', async () => {
    const cited = { messages: [user([{ type: 'text', text: 'a', citations: [{ type: 'char_location' }] }])] };
    for (const change of [{ temperature: 1 }, { top_p: 0.9 }, { top_k: 5 }, cited]) {
      expect((await send(change)).status).toBe(200);
      expect((await send(change, { headers: { 'anthropic-version': '2026-10-21' } })).status).toBe(400);
    }
    expect((await send({}, { headers: { 'anthropic-version': '2026-10-21' } })).status).toBe(200);
  });

  it('takes a bearer token for a key', async () => {
    expect((await send({}, { headers: { 'x-api-key': '', authorization: 'Bearer right' } })).status).toBe(200);
  });

  it('keeps no key in its records', async () => {
    await send({});
    expect(JSON.stringify(model.requests.at(-1)?.headers)).not.toContain('right');
  });

  it('refuses a body that is not JSON, and one over 32 MB, and goes on', async () => {
    const headers = { 'x-api-key': 'right' };
    expect((await postRaw(model.url, '{"model":', { headers })).status).toBe(400);
    const large = await postRaw(model.url, JSON.stringify('x'.repeat(32 * 1024 * 1024)), { headers });
    expect([large.status, JSON.parse(large.text).error.type]).toEqual([413, 'request_too_large']);
    expect((await send({})).status).toBe(200);
  });

  it('refuses other paths and methods', async () => {
    expect((await send({}, { path: '/v1/complete' })).status).toBe(404);
    expect((await fetch(`${model.url}/v1/messages`)).status).toBe(405);
  });

  it('counts tokens, with the same strictness but without max_tokens', async () => {
    const path = '/v1/messages/count_tokens';
    const counted = await send({ max_tokens: undefined }, { path });
    expect(JSON.parse(counted.text)).toEqual({ input_tokens: expect.any(Number) });
    expect(
      (
        await send(
          {
            messages: [
              user('Hi'),
              { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: {} }] },
            ],
          },
          { path },
        )
      ).status,
    ).toBe(400);
  });
});

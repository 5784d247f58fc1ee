import Anthropic from '@anthropic-ai/sdk';
import { afterEach, expect, it } from 'vitest';
import { type FakeModel, startFakeModel } from './index.js';

let model: FakeModel | undefined;
afterEach(() => model?.close());

const MODELS = ['m-4', 'm-3', 'm-2-20250301', 'm-1'];

async function started(): Promise<FakeModel> {
  model = await startFakeModel({ models: MODELS, apiKey: 'right' });
  return model;
}

it('is read page by page by the SDK', async () => {
  const { url, requests } = await started();
  const client = new Anthropic({ baseURL: url, apiKey: 'right', maxRetries: 0 });
  const seen: string[] = [];
  for await (const { id } of client.models.list({ limit: 3 })) seen.push(id);
  expect(seen).toEqual(MODELS);
  expect(requests.map(({ verdict }) => verdict)).toEqual([
    { kind: 'answered', stop: 'models' },
    { kind: 'answered', stop: 'models' },
  ]);
});

it('has the shape of the API, forwards and backwards', async () => {
  const { url } = await started();
  const page = async (query: string) => {
    const headers = { 'x-api-key': 'right', 'anthropic-version': '2023-06-01' };
    return (await fetch(`${url}/v1/models${query}`, { headers })).json();
  };
  expect(await page('?limit=1&after_id=m-3')).toEqual({
    data: [{ type: 'model', id: 'm-2-20250301', display_name: 'm-2-20250301', created_at: '2025-03-01T00:00:00Z' }],
    first_id: 'm-2-20250301',
    last_id: 'm-2-20250301',
    has_more: true,
  });
  expect(await page('?limit=2&before_id=m-1')).toMatchObject({
    first_id: 'm-3',
    last_id: 'm-2-20250301',
    has_more: true,
  });
  expect(await page('?after_id=m-1')).toEqual({ data: [], first_id: null, last_id: null, has_more: false });
});

it.each([
  ['a wrong key', '', { 'x-api-key': 'wrong' }, 401, 'authentication_error'],
  ['no key', '', { 'x-api-key': '' }, 401, 'authentication_error'],
  ['no version', '', { 'anthropic-version': '' }, 400, 'invalid_request_error'],
  ['no number', '?limit=none', {}, 400, 'invalid_request_error'],
  ['too large a page', '?limit=1001', {}, 400, 'invalid_request_error'],
  ['two cursors', '?after_id=m-4&before_id=m-1', {}, 400, 'invalid_request_error'],
  ['an unknown cursor', '?after_id=m-9', {}, 400, 'invalid_request_error'],
])('refuses %s', async (_, query, more, status, type) => {
  const { url } = await started();
  const headers = { 'x-api-key': 'right', 'anthropic-version': '2023-06-01', ...more };
  const response = await fetch(`${url}/v1/models${query}`, { headers });
  expect([response.status, ((await response.json()) as { error: { type: string } }).error.type]).toEqual([
    status,
    type,
  ]);
});

it('takes no other method', async () => {
  const { url } = await started();
  expect((await fetch(`${url}/v1/models`, { method: 'POST', body: '{}' })).status).toBe(405);
});

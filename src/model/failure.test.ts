import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createSocketServer, type Server as NetServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { ROOT } from '../../test/support/world.js';
import type { FailureClass, ProviderFailure } from '../domain/failures.js';
import { Watchdog } from './event-stream.js';
import { eventFailure, failureOf } from './failure.js';
import { modelInfo } from './prices.js';
import { requestEvents } from './provider.js';
import { prepareRequest } from './request.js';

const request = prepareRequest(modelInfo('claude-sonnet-5'), 'sys', [], {
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  skipped: 0,
});

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listening(server: NetServer): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function served(respond: RequestListener): Promise<string> {
  const server = createServer(respond);
  closing.push(() => server.closeAllConnections());
  return `http://127.0.0.1:${await listening(server)}`;
}

/** How one request to that address fails; undefined when its events end as a connection does. */
async function failureAt(baseURL: string, key = 'k'): Promise<ProviderFailure | undefined> {
  const watchdog = new Watchdog({ idleMs: 1_000, totalMs: 20_000 }, new AbortController().signal);
  try {
    for await (const _ of requestEvents({ baseURL, apiKey: key }, request, watchdog));
    return undefined;
  } catch (err) {
    return failureOf(err);
  }
}

const refusing =
  (status: number, type: string, message: string, headers: Record<string, string> = {}) =>
  (_: unknown, res: ServerResponse) => {
    res.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_1', ...headers });
    res.end(JSON.stringify({ type: 'error', error: { type, message } }));
  };
const plain =
  (status: number, type: string | undefined, body: string) =>
  (_: unknown, res: ServerResponse): void => {
    res.writeHead(status, type === undefined ? {} : { 'content-type': type });
    res.end(body);
  };

const PAGE = '<html><body><h1>Bad gateway</h1></body></html>';

describe('an HTTP error', () => {
  const table: [number, string, string, FailureClass][] = [
    [400, 'invalid_request_error', 'messages: text is empty', 'bad_request'],
    [400, 'invalid_request_error', 'prompt is too long: 200001 tokens > 200000 maximum', 'context_window'],
    [
      400,
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 190000 + 32000',
      'context_window',
    ],
    [400, 'invalid_request_error', "This model's maximum context length is 128000 tokens.", 'context_window'],
    [400, 'ValidationException', 'Input is too long for requested model.', 'context_window'],
    [400, 'invalid_request_error', 'max_tokens: 64000 > 32000, the maximum number of output tokens', 'bad_request'],
    [400, 'invalid_request_error', 'context_management: Extra inputs are not permitted', 'bad_request'],
    [400, 'invalid_request_error', 'messages.1.content.0.image: exceeds 5 MB maximum', 'bad_request'],
    [400, 'invalid_request_error', 'Your credit balance is too low to access the API.', 'billing'],
    [400, 'invalid_request_error', 'You have reached your specified API usage limits.', 'billing'],
    [401, 'authentication_error', 'invalid key', 'auth'],
    [402, 'billing_error', 'pay', 'billing'],
    [403, 'permission_error', 'no', 'auth'],
    [404, 'not_found_error', 'model: x', 'not_found'],
    [408, 'timeout_error', 'slow', 'server_error'],
    [409, 'conflict', 'again', 'server_error'],
    [413, 'request_too_large', 'too large', 'too_large'],
    [422, 'unprocessable', 'no such field', 'bad_request'],
    [429, 'rate_limit_error', 'slow down', 'rate_limit'],
    [429, 'insufficient_quota', 'You exceeded your current quota, check your plan and billing details.', 'billing'],
    [500, 'api_error', 'oops', 'server_error'],
    [502, 'api_error', 'oops', 'server_error'],
    [503, 'api_error', 'oops', 'server_error'],
    [529, 'overloaded_error', 'busy', 'overloaded'],
  ];
  it.each(table)('%i %s "%s" is of class %s', async (status, type, message, expected) => {
    const found = await failureAt(await served(refusing(status, type, message)));
    expect(found).toMatchObject({ class: expected, status, requestId: 'req_1' });
    expect(found?.message).toContain(message);
  });

  it('that is a page, nothing, or not JSON is of the class of its status, and shows no page', async () => {
    for (const body of [PAGE, '', 'upstream failed']) {
      const found = await failureAt(await served(plain(502, body === PAGE ? 'text/html' : 'text/plain', body)));
      expect(found?.class).toBe('server_error');
      expect(found?.message).not.toContain('<');
    }
  });

  it('that redirects says where to, without what may be secret', async () => {
    const found = await failureAt(
      await served((_, res) => {
        res.writeHead(302, { location: 'https://user:canary@login.invalid/sign-in?token=canary' });
        res.end();
      }),
    );
    expect(found?.class).toBe('address');
    expect(found?.message).toContain('https://login.invalid/sign-in');
    expect(found?.message).not.toContain('canary');
  });
});

describe('the wait that a provider asks for', () => {
  const limited = async (headers: Record<string, string>, message = 'slow', status = 429) =>
    failureAt(await served(refusing(status, 'rate_limit_error', message, headers)));
  const soon = (s: number) => new Date(Date.now() + s * 1000);

  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': '1.5' }, 1_500],
    [{ 'retry-after-ms': '250' }, 250],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after': '99999999999' }, 99_999_999_999_000],
    [{ 'x-ratelimit-reset': '20' }, 20_000],
  ] as [Record<string, string>, number][])('%o is %i ms', async (headers, ms) => {
    expect(await limited(headers)).toMatchObject({ class: 'rate_limit', retryAfterMs: ms });
  });

  it.each([
    { 'retry-after': 'soon' },
    { 'retry-after': '-5' },
    { 'retry-after': '1e999' },
    { 'retry-after-ms': '-1' },
    { 'retry-after': '' },
    { 'anthropic-ratelimit-tokens-remaining': '17', 'anthropic-ratelimit-tokens-reset': '2100-01-01T00:00:00Z' },
    { 'anthropic-ratelimit-tokens-remaining': '0', 'anthropic-ratelimit-tokens-reset': 'later' },
  ] as Record<string, string>[])('%o says nothing', async (headers) => {
    expect(await limited(headers)).not.toHaveProperty('retryAfterMs');
  });

  it('may be a date, by the clock of the provider', async () => {
    const ours = await limited({ 'retry-after': soon(60).toUTCString() });
    expect(ours?.retryAfterMs).toBeGreaterThan(50_000);
    const date = 'Thu, 01 Jan 2026 00:00:00 GMT';
    expect(await limited({ date, 'retry-after': 'Thu, 01 Jan 2026 00:02:00 GMT' })).toMatchObject({
      retryAfterMs: 120_000,
    });
    expect(await limited({ date, 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' })).toMatchObject({ retryAfterMs: 0 });
  });

  it('is that of the limits that are used up when nothing else is said', async () => {
    const headers = {
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': soon(20).toISOString(),
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': soon(40).toISOString(),
      'anthropic-ratelimit-tokens-remaining': '5000',
      'anthropic-ratelimit-tokens-reset': soon(4000).toISOString(),
    };
    const found = await limited(headers);
    expect(found?.retryAfterMs).toBeGreaterThan(30_000);
    expect(found?.retryAfterMs).toBeLessThan(41_000);
    const unified = await limited({ 'anthropic-ratelimit-unified-reset': String(Math.round(+soon(7200) / 1000)) });
    expect(unified?.retryAfterMs).toBeGreaterThan(7_000_000);
    expect(await limited({ ...headers, 'retry-after': '3' })).toMatchObject({ retryAfterMs: 3_000 });
    expect(await limited(headers, 'busy', 529)).not.toHaveProperty('retryAfterMs');
  });

  it('is the time that the words of a usage limit name', async () => {
    const day = soon(3 * 24 * 3600).toISOString();
    const words = `You have reached your specified API usage limits. You will regain access on ${day.slice(0, 10)} at ${day.slice(11, 16)} UTC.`;
    const found = await failureAt(await served(refusing(400, 'invalid_request_error', words)));
    expect(found?.class).toBe('rate_limit');
    expect(found?.retryAfterMs).toBeGreaterThan(3 * 24 * 3_600_000 - 120_000);
    const bar = await limited({}, `Usage limit reached|${Math.round(+soon(3600) / 1000)}`);
    expect(bar?.retryAfterMs).toBeGreaterThan(3_500_000);
  });

  it('makes a used up quota a matter of waiting, where one is named', async () => {
    const words = 'You exceeded your current quota, check your plan and billing details.';
    expect(await limited({ 'retry-after': '34' }, words)).toMatchObject({ class: 'rate_limit', retryAfterMs: 34_000 });
  });
});

describe('an answer of status 200 that is no stream', () => {
  it.each([
    ['text/html', PAGE, 'bad_response'],
    ['text/plain', 'not JSON', 'bad_response'],
    ['application/json', '', 'address'],
    ['application/json', '{"type":"message","content":[]}', 'address'],
    [undefined, '', 'bad_response'],
  ] as const)('%s %s is of class %s', async (type, body, expected) => {
    expect(await failureAt(await served(plain(200, type, body)))).toMatchObject({ class: expected });
  });

  it.each([
    ['data: {not json\n\n', 'bad_response'],
    ['data: 17\n\n: a comment\n\nevent: x\n\n', undefined],
    ['', undefined],
  ])('a stream of %j is read', async (body, expected) => {
    expect((await failureAt(await served(plain(200, 'text/event-stream', body))))?.class).toBe(expected);
  });
});

describe('an error inside the stream', () => {
  it.each([
    ['overloaded_error', 'Overloaded', 'overloaded'],
    ['rate_limit_error', 'slow', 'rate_limit'],
    ['api_error', 'oops', 'server_error'],
    ['timeout_error', 'slow', 'server_error'],
    ['something_new', '', 'server_error'],
    ['invalid_request_error', 'messages: wrong', 'bad_request'],
    ['invalid_request_error', 'prompt is too long: 3 tokens > 2 maximum', 'context_window'],
    ['invalid_request_error', 'Your credit balance is too low to access the API.', 'billing'],
    ['authentication_error', 'no', 'auth'],
    ['permission_error', 'no', 'auth'],
    ['billing_error', 'no', 'billing'],
    ['not_found_error', 'no', 'not_found'],
    ['request_too_large', 'no', 'too_large'],
  ] as [string, string, FailureClass][])('%s "%s" is of class %s', (type, message, expected) => {
    expect(eventFailure(type, message).class).toBe(expected);
  });
});

describe('a connection', () => {
  it('to a name that nobody has, or to a port that nobody listens at, may come later', async () => {
    expect(await failureAt('http://nowhere.invalid')).toMatchObject({ class: 'connection' });
    const server = createServer();
    const port = await listening(server);
    await new Promise((done) => server.close(done));
    const refused = await failureAt(`http://127.0.0.1:${port}`);
    expect(refused?.class).toBe('connection');
    expect(refused?.message).toContain('ECONNREFUSED');
  });

  it('to an address that is none is a matter of the address', async () => {
    for (const address of ['http://127.0.0.1:6000', 'ftp://127.0.0.1', 'nonsense']) {
      expect(await failureAt(address), address).toMatchObject({ class: 'address' });
    }
  });

  it('that is lost, or never says anything, may be there later', async () => {
    const ends: ((socket: Socket) => unknown)[] = [
      (socket) => socket.destroy(),
      (socket) => socket.resetAndDestroy(),
      (socket) => socket.end(),
    ];
    for (const end of ends) {
      const server = createSocketServer(
        (socket) => void socket.on('error', () => undefined).once('data', () => end(socket)),
      );
      expect(await failureAt(`http://127.0.0.1:${await listening(server)}`)).toMatchObject({ class: 'connection' });
    }
    const silent = await served(() => undefined);
    expect(await failureAt(silent)).toMatchObject({ class: 'stalled' });
  });

  it('with a key that no header can carry is refused here, and the key is not shown', async () => {
    const found = await failureAt(await served(plain(200, 'text/plain', '')), 'canary\n…key');
    expect(found?.class).toBe('auth');
    expect(found?.message).not.toContain('canary');
  });

  it('that is not secure is never tried again by itself', async () => {
    const asked = async (scheme: string, cert: string): Promise<ProviderFailure> => {
      const pem = readFileSync(join(ROOT, 'test/support/certs', `${cert}.pem`));
      const server = createSecureServer({ key: pem, cert: pem }, (_, res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.end();
      });
      const address = `${scheme}://127.0.0.1:${await listening(server)}`;
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [join(ROOT, 'test/support/ask-provider.mjs'), address],
        { env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: join(ROOT, 'test/support/certs/ca.pem') } },
      );
      return JSON.parse(stdout) as ProviderFailure;
    };
    expect(await asked('https', 'trusted')).toEqual({ class: 'answered' });
    for (const cert of ['self-signed', 'expired', 'wrong-host']) {
      const { class: kind, message } = await asked('https', cert);
      expect([cert, kind]).toEqual([cert, 'tls']);
      expect(message).toMatch(/self-signed|expired|altnames/i);
    }
    expect((await asked('http', 'trusted')).class).toBe('connection');
    const spoken = await served(plain(200, 'text/plain', ''));
    expect((await failureAt(spoken.replace('http:', 'https:')))?.class).toBe('tls');
  });
});

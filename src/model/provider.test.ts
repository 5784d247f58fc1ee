import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Watchdog } from './event-stream.js';
import { failureOf } from './failure.js';
import { modelInfo } from './prices.js';
import { PROVIDER_ADDRESS, type Profile } from './profiles.js';
import { providerClient, requestEvents } from './provider.js';
import { prepareRequest } from './request.js';
import { Secrets } from './secrets.js';

const request = prepareRequest(modelInfo('claude-sonnet-5'), 'sys', [], {
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  skipped: 0,
});

describe('requestEvents', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** How a request to such a server fails. */
  const failure = async (
    respond: (res: ServerResponse, url: string | undefined) => void,
    more: Partial<Profile> = {},
  ) => {
    const server = createServer((req, res) => respond(res, req.url));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const watchdog = new Watchdog({ idleMs: 5_000, totalMs: 20_000 }, new AbortController().signal);
    try {
      for await (const _ of requestEvents({ baseURL, apiKey: 'k', ...more }, request, watchdog));
      return undefined;
    } catch (err) {
      return failureOf(err);
    }
  };
  it('follows no redirect, and reads little of an endless page', async () => {
    let hits = 0;
    const redirected = await failure((res, url) => {
      hits++;
      res.writeHead(307, { location: `${url}/elsewhere` });
      res.end();
    });
    expect(redirected?.class).toBe('address');
    expect(redirected?.message).toContain('a redirect');
    expect(hits).toBe(1);
    for (const status of [200, 500]) {
      let sent = 0;
      const endless = await failure((res) => {
        res.writeHead(status, { 'content-type': 'text/html' });
        const more = () => {
          if (res.destroyed) return;
          sent += 65_536;
          if (res.write('x'.repeat(65_536))) setImmediate(more);
          else res.once('drain', more);
        };
        more();
      });
      expect(['bad_response', 'server_error']).toContain(endless?.class);
      expect(sent).toBeLessThan(50_000_000);
    }
  });

  it('goes to the address of the profile, or to the provider, never to that of its own environment', () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:1');
    expect(providerClient({ apiKey: 'k' }).baseURL).toBe(PROVIDER_ADDRESS);
    expect(providerClient({ apiKey: 'k', baseURL: 'http://127.0.0.1:2' }).baseURL).toBe('http://127.0.0.1:2');
  });

  it('tells troubles of the network from those of files and of our own code', () => {
    const withCode = (code: string) => Object.assign(new Error('x'), { code });
    expect(failureOf(withCode('ECONNRESET')).class).toBe('connection');
    expect(failureOf(withCode('ENOTFOUND')).class).toBe('connection');
    expect(failureOf(withCode('ENOENT')).class).toBe('internal');
    expect(failureOf(new RangeError('stack')).class).toBe('internal');
  });
});

describe('Secrets', () => {
  it('hides every key that was used, wherever it stands', () => {
    const secrets = new Secrets();
    secrets.add({ apiKey: 'sk-canary-1', authToken: 'tok$&en-2' });
    expect(secrets.hide('a sk-canary-1 b tok$&en-2 sk-canary-1')).toBe('a [hidden] b [hidden] [hidden]');
  });
});

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server as HttpServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server as NetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startFakeModel } from '../../fake-model/index.js';
import { type Profile, writeProfile } from '../../model/profiles.js';
import { clockCheck } from './clock.js';
import { examine } from './doctor.js';
import { beginExamination } from './examination.js';
import { keysCheck } from './keys.js';
import { modelCheck, modelFinding } from './model.js';
import { lookAtModel } from './model-look.js';
import { bad } from './row.js';
import { lookAtSettings } from './settings-look.js';

const exam = (env: NodeJS.ProcessEnv, offline = false) => beginExamination({ home: '/nonexistent', env, offline });
const keys = (env: NodeJS.ProcessEnv) => keysCheck.look(exam(env));

describe('keys', () => {
  it('are well when one is set, and never shown', async () => {
    const env = { ANTHROPIC_API_KEY: 'key-0123456789', ANTHROPIC_AUTH_TOKEN: 'token-0123456789' };
    expect(await keys(env)).toEqual({
      state: 'ok',
      found: 'ANTHROPIC_API_KEY is set, ANTHROPIC_AUTH_TOKEN is set, for https://api.anthropic.com',
    });
    const own = await keys({ ANTHROPIC_BASE_URL: 'http://127.0.0.1:1/api' });
    expect(own).toMatchObject({ state: 'ok', found: expect.stringContaining('for http://127.0.0.1:1/api') });
  });
  it('deserve a look when none is set, unless the workers of a named server have them', async () => {
    expect(await keys({})).toMatchObject({ state: 'warn', next: expect.stringContaining('ANTHROPIC_API_KEY') });
    expect((await keys({ TEMPORAL_ADDRESS: '127.0.0.1:1' }))?.state).toBe('ok');
  });
  it('are broken when no request can carry them, or the address is none, which may be a key', async () => {
    expect(await keys({ ANTHROPIC_API_KEY: 'sk-…' })).toMatchObject({
      state: 'bad',
      found: expect.stringContaining('ANTHROPIC_API_KEY holds characters'),
    });
    const misplaced = await keys({ ANTHROPIC_BASE_URL: 'sk-misplaced-key' });
    expect(misplaced?.state).toBe('bad');
    expect(JSON.stringify(misplaced)).not.toContain('misplaced');
    for (const ANTHROPIC_BASE_URL of ['http://me:secret@127.0.0.1:1/api', 'http://127.0.0.1:1/api?key=secret']) {
      const unusable = await keys({ ANTHROPIC_BASE_URL });
      expect(unusable).toMatchObject({ state: 'bad', found: expect.stringContaining('http://127.0.0.1:1/api') });
      expect(JSON.stringify(unusable)).not.toMatch(/secret|me:/);
    }
  });
});

describe('settings', () => {
  const KEY = 'saved-key-0123456789';
  async function withProfiles(...profiles: [string, Profile][]) {
    const home = mkdtempSync(join(tmpdir(), 'longhaul-profiles-'));
    onTestFinished(() => rmSync(home, { recursive: true }));
    for (const [name, profile] of profiles) await writeProfile(home, name, profile);
    return (env: NodeJS.ProcessEnv) => beginExamination({ home, env });
  }

  it('are those that a task would get, with where they are from', async () => {
    const begin = await withProfiles(
      ['default', { apiKey: KEY }],
      ['work', { authToken: KEY, baseURL: 'https://work.example/' }],
      ['bare', { baseURL: 'http://127.0.0.1:1' }],
    );
    const found = async (env: NodeJS.ProcessEnv) => (await keysCheck.look(begin(env)))?.found;
    expect(await found({})).toBe('profile "default": a key, for https://api.anthropic.com');
    expect(await found({ ANTHROPIC_API_KEY: 'k' })).toMatch(/^ANTHROPIC_API_KEY is set/);
    const env = { ANTHROPIC_API_KEY: 'k', LONGHAUL_PROFILE: 'work' };
    expect(await found(env)).toBe('profile "work" (LONGHAUL_PROFILE): a token, for https://work.example');
    expect(await found({ LONGHAUL_PROFILE: 'bare' })).toMatch(/"bare" .*: none, for .* may need none$/);
    expect(await found({ LONGHAUL_PROFILE: 'env' })).toBe('not set here; tasks use those of the workers');
  });

  it('are those of the profile that settings.json names; one that is wrong is said', async () => {
    const begin = await withProfiles(['work', { apiKey: KEY }]);
    const first = begin({ ANTHROPIC_API_KEY: 'k' });
    const file = join(first.home, 'settings.json');
    writeFileSync(file, '{ "profile": "work" }');
    expect((await keysCheck.look(first))?.found).toBe(
      'profile "work" (settings.json): a key, for https://api.anthropic.com',
    );
    writeFileSync(file, '{ "profil": "work" }');
    const wrong = await keysCheck.look(begin({ ANTHROPIC_API_KEY: 'k' }));
    expect(wrong).toMatchObject({
      state: 'bad',
      found: expect.stringContaining(`${file}:1:3: "profil" is no setting`),
    });
  });

  it('are broken when the profile that is named is not there, or holds what cannot be sent', async () => {
    const begin = await withProfiles(['default', { baseURL: 'sk-misplaced-key' }]);
    const missing = await keysCheck.look(begin({ LONGHAUL_PROFILE: 'gone' }));
    expect(missing).toMatchObject({ state: 'bad', found: expect.stringMatching(/profile "gone".*LONGHAUL_PROFILE/) });
    const torn = await keysCheck.look(begin({}));
    expect(torn).toMatchObject({ state: 'bad', next: expect.stringContaining('`longhaul profile save default`') });
    expect(JSON.stringify(torn)).not.toContain('misplaced');
  });

  it('of a saved profile are asked with and corrected there, and shown in no row', async () => {
    const fake = await startFakeModel({ apiKey: 'right-key' });
    onTestFinished(() => fake.close());
    const begin = await withProfiles(
      ['work', { apiKey: KEY, baseURL: fake.url }],
      ['mine', { apiKey: KEY, baseURL: 'https://me:pw-secret@work.example/?k=query-secret' }],
    );
    const exam = begin({ LONGHAUL_PROFILE: 'work', ANTHROPIC_API_KEY: 'right-key' });
    expect(await modelCheck.look(exam)).toMatchObject({
      state: 'bad',
      found: expect.stringContaining('refuses the key'),
      next: expect.stringMatching(/^Set ANTHROPIC_API_KEY .* Then save it: `longhaul profile save work`\.$/),
    });
    const check = { name: 'all', look: async () => bad(`${KEY} pw-secret query-secret`, KEY) };
    const [row] = await examine(begin({ LONGHAUL_PROFILE: 'mine' }), [check]);
    expect(JSON.stringify(row)).not.toMatch(/saved-key|secret/);
  });
});

describe('model', () => {
  const model = async (env: NodeJS.ProcessEnv, answerMs?: number) => {
    const look = await looked({ ANTHROPIC_API_KEY: 'k', ...env }, answerMs);
    return look && modelFinding(look);
  };
  const looked = async (env: NodeJS.ProcessEnv, answerMs?: number) =>
    lookAtModel(await lookAtSettings('/nonexistent', env), env, answerMs);
  const at = (url: string) => ({ ANTHROPIC_BASE_URL: url });

  it('is well when it answers, with a key, and with none where none is wanted', async () => {
    const fake = await startFakeModel({ apiKey: 'right-key' });
    onTestFinished(() => fake.close());
    expect(await model({ ...at(fake.url), ANTHROPIC_API_KEY: 'right-key' })).toEqual({
      state: 'ok',
      found: `${fake.url} answers and takes the key`,
    });
    expect(fake.requests).toMatchObject([{ path: '/v1/models', verdict: { kind: 'answered' } }]);
    const open = await started((_, res) => res.setHeader('content-type', 'application/json').end('{"data":[]}'));
    expect(await modelFinding((await looked(at(open)))!)).toEqual({ state: 'ok', found: `${open} answers` });
  });

  it('is not asked offline, or when nothing can be sent', async () => {
    expect(await modelCheck.look(exam({ ANTHROPIC_API_KEY: 'k' }, true))).toBeUndefined();
    expect(await modelCheck.look(exam({}))).toBeUndefined();
    expect(await model(at('ftp://127.0.0.1'))).toBeUndefined();
  });

  it('is broken when the key is refused or wanted', async () => {
    const fake = await startFakeModel({ apiKey: 'right-key' });
    onTestFinished(() => fake.close());
    expect(await model({ ...at(fake.url), ANTHROPIC_API_KEY: 'wrong-key' })).toMatchObject({
      state: 'bad',
      found: `${fake.url} refuses the key (401)`,
    });
    const keyless = await looked(at(fake.url));
    expect(keyless && modelFinding(keyless).found).toBe(`${fake.url} wants a key (401)`);
  });

  const statuses: [number, 'ok' | 'warn' | 'bad', RegExp][] = [
    [404, 'ok', /no list of models/],
    [405, 'ok', /no list of models/],
    [302, 'bad', /leads elsewhere/],
    [400, 'warn', /does not take/],
    [402, 'bad', /paid/],
    [403, 'bad', /refuses the key/],
    [429, 'warn', /too much to do/],
    [503, 'warn', /fails/],
    [529, 'warn', /too much to do/],
  ];
  it.each(statuses)('status %i is %s', async (status, state, words) => {
    const url = await started((_, res) => res.writeHead(status, { location: 'http://127.0.0.1:1/' }).end());
    expect(await model(at(url))).toMatchObject({ state, found: expect.stringMatching(words) });
  });

  it('deserves a look when it is a web page, or the address has a part too many', async () => {
    const page = await started((_, res) => res.setHeader('content-type', 'text/html').end('<html></html>'));
    expect(await model(at(page))).toMatchObject({ state: 'warn', found: expect.stringContaining('other than an API') });
    const strict = await started((req, res) => res.writeHead(req.url === '/v1/models?limit=1' ? 200 : 404).end('{}'));
    expect(await model(at(`${strict}/v1`))).toMatchObject({ state: 'warn', next: expect.stringContaining('/v1') });
  });

  it('is broken when it cannot be reached, and the text says why', async () => {
    const plain = await started((_, res) => res.end());
    const cut = await listening(createTcpServer((socket) => socket.destroy()));
    const silent = await listening(createTcpServer(() => undefined));
    const cases: [string, RegExp][] = [
      [`http://127.0.0.1:${await closedPort()}`, /nothing listens there/],
      ['http://models.invalid', /name cannot be resolved/],
      [plain.replace('http:', 'https:'), /no secure connection/],
      [await selfSigned(), /no secure connection.*certificate/],
      [`http://127.0.0.1:${cut}`, /no connection to it lasts/],
      [`http://127.0.0.1:${silent}`, /does not answer/],
    ];
    for (const [url, words] of cases) {
      expect(await model(at(url), 2_000)).toMatchObject({ state: 'bad', found: expect.stringMatching(words) });
    }
  });

  it('tells what a proxy has to do with it', async () => {
    const port = await closedPort();
    const proxy = `http://user:secret@127.0.0.1:${port}`;
    const unused = await model({ ...at(`http://127.0.0.1:${port}`), HTTP_PROXY: proxy });
    expect(unused?.next).toMatch(/HTTP_PROXY is set, but Node uses it only with NODE_USE_ENV_PROXY=1/);
    const used = await model({ ...at(`http://127.0.0.1:${port}`), HTTP_PROXY: proxy, NODE_USE_ENV_PROXY: '1' });
    expect(used).toMatchObject({
      state: 'bad',
      found: expect.stringContaining('does not get through the proxy'),
      next: expect.stringContaining('NO_PROXY'),
    });
    expect(JSON.stringify([unused, used])).not.toContain('secret');
  });
});

describe('clock', () => {
  const clock = async (date: Date) => {
    const url = await started((_, res) => res.setHeader('date', date.toUTCString()).end('{}'));
    return clockCheck.look(exam({ ANTHROPIC_BASE_URL: url }));
  };
  it("is well when it agrees with the provider's", async () => {
    expect(await clock(new Date())).toEqual({ state: 'ok', found: "agrees with the provider's" });
  });
  it('deserves a look when it is wrong, either way', async () => {
    const hour = 3_600_000;
    expect(await clock(new Date(Date.now() - hour))).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('ahead of'),
    });
    expect((await clock(new Date(Date.now() + hour)))?.found).toMatch(/^(1 h|59 min).* behind/);
  });
  it('is not judged where nobody says the time', async () => {
    expect(await clockCheck.look(exam({ ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' }))).toBeUndefined();
  });
});

async function started(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listening(createServer(listener))}`;
}

/** @returns the port of a server that is closed when the test ends */
async function listening(server: NetServer): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', () => done()));
  onTestFinished(() => {
    if ('closeAllConnections' in server) (server as HttpServer).closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A port on which nothing listens any more. */
async function closedPort(): Promise<number> {
  const server = createTcpServer();
  const port = await new Promise<number>((done) => {
    server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port));
  });
  await new Promise((done) => server.close(done));
  return port;
}

async function selfSigned(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'];
  execFileSync('openssl', [...request, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  const server = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, res) => res.end());
  rmSync(folder, { recursive: true });
  return `https://127.0.0.1:${await listening(server)}`;
}

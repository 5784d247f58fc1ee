import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../test/support/temporal.js';
import { openUiGate, refusalOf } from './ui-gate.js';

describe('what may pass', () => {
  const own = { host: '127.0.0.1:8233' };
  const cases: [string, string, string, Record<string, string>, boolean][] = [
    ['a person types the address', 'GET', '/', { ...own, 'sec-fetch-site': 'none' }, true],
    ['the other name of this machine', 'GET', '/', { host: 'LOCALHOST:8233' }, true],
    ['a page of the UI reads', 'GET', '/api/v1/namespaces', { ...own, 'sec-fetch-site': 'same-origin' }, true],
    ['a page of the UI writes', 'POST', '/api/v1/x', { ...own, origin: 'http://127.0.0.1:8233' }, true],
    ['the same, without its origin', 'POST', '/api/v1/x', { ...own, 'sec-fetch-site': 'same-origin' }, true],
    [
      'a link elsewhere opens a page',
      'GET',
      '/namespaces/default/workflows/x',
      { ...own, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      true,
    ],
    ['a name that leads here', 'GET', '/', { host: 'evil.example:8233' }, false],
    ['another port in the name', 'GET', '/', { host: '127.0.0.1:9999' }, false],
    ['no name', 'GET', '/', {}, false],
    ['another page writes', 'POST', '/api/v1/x', { ...own, origin: 'https://evil.example' }, false],
    ['a page without an origin writes', 'POST', '/api/v1/x', { ...own, origin: 'null' }, false],
    ['another server of this machine writes', 'POST', '/api/v1/x', { ...own, origin: 'http://127.0.0.1:3000' }, false],
    ['the two names mixed', 'POST', '/api/v1/x', { ...own, origin: 'http://localhost:8233' }, false],
    ['a write by a link', 'POST', '/api/v1/x', { ...own, 'sec-fetch-site': 'none' }, false],
    ['a write from nowhere', 'POST', '/api/v1/x', own, false],
    ['a preflight', 'OPTIONS', '/api/v1/x', { ...own, origin: 'https://evil.example' }, false],
    ['a picture in another page', 'GET', '/api/v1/namespaces', { ...own, 'sec-fetch-site': 'cross-site' }, false],
    [
      'a frame in another page',
      'GET',
      '/',
      { ...own, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      false,
    ],
    [
      'a link elsewhere to data',
      'GET',
      '/api/v1/namespaces',
      { ...own, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      false,
    ],
  ];
  test.each(cases)('%s', (_what, method, path, headers, passes) => {
    expect(refusalOf(method, path, headers, 8233) === undefined).toBe(passes);
  });
});

describe('the UI', () => {
  let server: TestServer;
  let ui: string;

  beforeAll(async () => {
    server = await startTestServer();
    ui = await server.ui();
  });

  afterAll(() => server?.stop());

  test('has its pages, their files, and the data of the server', async () => {
    const page = await fetch(`${ui}/namespaces/default/workflows`);
    expect(page.status, await page.clone().text()).toBe(200);
    expect(page.headers.get('content-type')).toContain('text/html');
    const [script] = /\/_app\/immutable\/[\w./-]+\.js/.exec(await page.text()) ?? [];
    const file = await fetch(`${ui}${script}`);
    expect(file.headers.get('content-type')).toContain('javascript');
    expect(file.headers.get('cache-control')).toContain('immutable');
    expect(await (await fetch(`${ui}/api/v1/settings`)).json()).toMatchObject({ Auth: { Enabled: false } });
    const details = await fetch(`${ui}/render?content=${encodeURIComponent('**status**')}`);
    expect(await details.text()).toContain('<strong>status</strong>');

    const connection = await Connection.connect({ address: server.address });
    const client = new Client({ connection, namespace: server.namespace });
    const args = [{ one: 1 }];
    const handle = await client.workflow.start('unknown', { taskQueue: 'nobody', workflowId: 'shown', args });
    const api = `${ui}/api/v1/namespaces/${server.namespace}`;
    const history = await fetch(`${api}/workflows/shown/history`);
    expect(history.headers.get('content-type')).toBe('application/json');
    // as they are stored, which is what the pages read
    const payload = Buffer.from(JSON.stringify(args[0])).toString('base64');
    expect(await history.text()).toContain(`"data":"${payload}"`);
    const missing = await fetch(`${api}/workflows/missing`);
    expect([missing.status, await missing.json()]).toMatchObject([404, { code: 5 }]);
    const terminated = await fetch(`${api}/workflows/shown/terminate`, {
      method: 'POST',
      headers: { origin: ui, 'content-type': 'application/json' },
      body: JSON.stringify({ reason: 'from the page' }),
    });
    expect(terminated.status).toBe(200);
    expect((await handle.describe()).status.name).toBe('TERMINATED');
    await connection.close();
  });

  test('a fixed port that another process has is an error', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-gate-'));
    const blocker = createServer();
    const port = await new Promise<number>((done) =>
      blocker.listen(0, '127.0.0.1', () => done((blocker.address() as { port: number }).port)),
    );
    const open = (env: NodeJS.ProcessEnv) =>
      openUiGate({
        portsFile: join(folder, 'ports.json'),
        env,
        api: () => undefined,
        pages: { port: () => Promise.reject(new Error('no pages')) },
      });
    await expect(open({ LONGHAUL_UI_PORT: String(port) })).rejects.toMatchObject({ slug: 'port-taken' });
    await expect(open({ LONGHAUL_UI_PORT: 'many' })).rejects.toMatchObject({ slug: 'bad-settings' });
    const gate = await open({});
    expect((await fetch(gate.url)).status).toBe(502);
    await gate.close();
    const again = await open({});
    expect(again.url).toBe(gate.url);
    await again.close();
    blocker.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

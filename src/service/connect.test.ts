import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../test/support/temporal.js';
import { uiPage } from '../cli/task-row.js';
import { SEARCH_ATTRIBUTES } from '../devserver/flags.js';
import { connectTemporal, namesServer, temporalTarget, workerConnection } from './connect.js';
import { ensureSearchAttributes } from './search-attributes.js';

let home: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'longhaul-connect-'));
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

function profileFile(text: string): string {
  const path = join(home, `temporal-${Math.random().toString(36).slice(2)}.toml`);
  writeFileSync(path, text);
  return path;
}

describe('Temporal’s standard settings', () => {
  test.each([
    [{}, false],
    [{ TEMPORAL_ADDRESS: 'somewhere:7233' }, true],
    [{ TEMPORAL_ADDRESS: ' ' }, false],
    [{ TEMPORAL_NAMESPACE: 'team' }, true],
    [{ TEMPORAL_API_KEY: 'key' }, true],
    [{ TEMPORAL_TLS: 'true' }, true],
    [{ TEMPORAL_TLS_SERVER_NAME: 'name' }, true],
    [{ TEMPORAL_SOMETHING_ELSE: 'x' }, false],
    [{ TEMPORAL_ADDRESS: '127.0.0.1:1', LONGHAUL_EMBEDDED: '1' }, false],
  ])('%j name a server: %s', (env, expected) => {
    expect(namesServer({ HOME: home, ...env })).toBe(expected);
  });

  test('a profile of a file gives address, namespace, key and headers', async () => {
    const file = profileFile(
      '[profile.cloud]\naddress = "cloud.example:7233"\nnamespace = "team"\napi_key = "secret"\n' +
        '[profile.cloud.grpc_meta]\nx-team = "a"\n',
    );
    const env = { TEMPORAL_CONFIG_FILE: file, TEMPORAL_PROFILE: 'cloud' };
    expect(await temporalTarget({ home, env })).toEqual({
      address: 'cloud.example:7233',
      namespace: 'team',
      embedded: false,
      options: { tls: true, apiKey: 'secret', metadata: { 'x-team': 'a' } },
    });
    expect(await workerConnection({ home, env: { ...env, TEMPORAL_ADDRESS: 'other:1' } })).toMatchObject({
      address: 'other:1',
      options: { address: 'other:1', apiKey: 'secret' },
    });
  });

  test('the address of the UI is taken from the environment, for links', async () => {
    const env = { HOME: home, TEMPORAL_ADDRESS: 'other:1', LONGHAUL_UI_URL: 'http://localhost:8233/' };
    expect(await temporalTarget({ home, env })).toMatchObject({ ui: 'http://localhost:8233' });
    expect(await uiPage(home, { ...env, TEMPORAL_NAMESPACE: 'team' }, 'abc')).toBe(
      'http://localhost:8233/namespaces/team/workflows/abc',
    );
    expect(await uiPage(home, { ...env, LONGHAUL_UI_URL: ' ' }, 'abc')).toBeUndefined();
  });

  test('a file or profile that is not there, or cannot be read, is an error', async () => {
    const broken = profileFile('[profile.default\n');
    const empty = profileFile('');
    for (const env of [
      { TEMPORAL_CONFIG_FILE: join(home, 'absent.toml') },
      { TEMPORAL_CONFIG_FILE: broken },
      { TEMPORAL_CONFIG_FILE: empty, TEMPORAL_PROFILE: 'cloud' },
    ])
      await expect(temporalTarget({ home, env })).rejects.toMatchObject({ slug: 'bad-settings' });
  });

  test('without them, and without starting the service, its absence is an error', async () => {
    const attempt = connectTemporal({ home, env: { HOME: home }, start: false });
    await expect(attempt).rejects.toMatchObject({ slug: 'temporal-unreachable' });
  });
});

describe('a server', () => {
  let server: TestServer;
  const open: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    server = await startTestServer();
  });

  afterAll(async () => {
    for (const connection of open) await connection.close();
    await server?.stop();
  });

  test('that is not there, or lacks the namespace, is unreachable', async () => {
    for (const env of [
      { TEMPORAL_ADDRESS: '127.0.0.1:1' },
      { TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: 'absent' },
    ])
      await expect(connectTemporal({ home, env })).rejects.toMatchObject({ slug: 'temporal-unreachable' });
  });

  test('where nothing listens is said to refuse', async () => {
    const attempt = connectTemporal({ home, env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
    await expect(attempt).rejects.toMatchObject({ message: expect.stringContaining('ECONNREFUSED') as string });
  });

  test('is found again soon after a kill -9', async () => {
    const connected = await connectTemporal({ home, env: { TEMPORAL_ADDRESS: server.address } });
    open.push(connected);
    expect(connected).toMatchObject({ address: server.address, namespace: 'default', embedded: false });
    await server.kill9();
    await server.restart();
    const { namespaceInfo } = await connected.connection.workflowService.describeNamespace({ namespace: 'default' });
    expect(namespaceInfo?.name).toBe('default');
  });

  test('gets the search attributes that it lacks, once; one of another type is an error', async () => {
    const connected = await connectTemporal({ home, env: { TEMPORAL_ADDRESS: server.address } });
    open.push(connected);
    const { workflowService, operatorService } = connected.connection;
    for (const namespace of ['bare', 'odd']) {
      await workflowService.registerNamespace({
        namespace,
        workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
      });
    }
    await retried(() => ensureSearchAttributes(connected.connection, 'bare'));
    await ensureSearchAttributes(connected.connection, 'bare');
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace: 'bare' });
    expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.keys(SEARCH_ATTRIBUTES)));

    await retried(() =>
      operatorService.addSearchAttributes({ namespace: 'odd', searchAttributes: { LonghaulAsk: 3 } }),
    );
    await expect(ensureSearchAttributes(connected.connection, 'odd')).rejects.toMatchObject({ slug: 'bad-settings' });
  });
});

/** A new namespace is known to all parts of the server only after a moment. */
async function retried(action: () => Promise<unknown>): Promise<void> {
  for (let n = 0; ; n++) {
    try {
      await action();
      return;
    } catch (err) {
      if (n === 50) throw err;
      await new Promise((done) => setTimeout(done, 300));
    }
  }
}

import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../test/support/temporal.js';
import { type HomePaths, homePaths } from '../settings/paths.js';
import { findTemporal } from './binary.js';
import { RETENTION_HOURS, SEARCH_ATTRIBUTES } from './flags.js';
import { databaseUsers, startDevServer } from './server.js';

describe('a running server', () => {
  let server: TestServer;
  let connection: Connection;

  beforeAll(async () => {
    server = await startTestServer();
    connection = await Connection.connect({ address: server.address });
  });

  afterAll(async () => {
    await connection?.close();
    await server?.stop();
  });

  test('keeps closed workflows for 30 days and knows the search attributes', async () => {
    const { config } = await connection.workflowService.describeNamespace({ namespace: server.namespace });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(RETENTION_HOURS * 3600);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: server.namespace });
    expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.keys(SEARCH_ATTRIBUTES)));
    expect(customAttributes?.LonghaulWaitingSince).toBe(6);
    expect(customAttributes?.LonghaulAsk).toBe(2);
  });

  test.runIf(process.platform === 'linux')('refuses what a web page could send to it', async () => {
    const client = new Client({ connection, namespace: server.namespace });
    const handle = await client.workflow.start('unknown', { taskQueue: 'nobody', workflowId: 'signalled' });
    const statuses: number[] = [];
    for (const port of listeningPorts(server.pid)) {
      const url = `http://127.0.0.1:${port}/api/v1/namespaces/default/workflows/signalled/signal/answer`;
      const reply = await fetch(url, {
        method: 'POST',
        headers: { origin: 'https://evil.example', 'content-type': 'text/plain' },
        body: '{}',
        signal: AbortSignal.timeout(5_000),
      }).catch(() => undefined);
      if (reply) statuses.push(reply.status);
    }
    expect(statuses).toContain(403);
    const { events } = await handle.fetchHistory();
    expect(events?.filter((event) => event.workflowExecutionSignaledEventAttributes)).toEqual([]);
    await handle.terminate();
  });

  test('comes back at the same address with its workflows after a kill -9', async () => {
    const { address } = server;
    const client = new Client({ connection, namespace: server.namespace });
    await client.workflow.start('unknown', { taskQueue: 'nobody', workflowId: 'survivor' });
    await server.kill9();
    await server.restart();
    expect(server.address).toBe(address);
    const { status } = await client.workflow.getHandle('survivor').describe();
    expect(status.name).toBe('RUNNING');
  });
});

describe('starting a server', () => {
  let home: string;
  let paths: HomePaths;
  let binary: string;

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'longhaul-start-'));
    paths = homePaths(home);
    binary = await findTemporal({ env: process.env, home });
  });

  afterAll(() => rmSync(home, { recursive: true, force: true }));

  const start = (env: NodeJS.ProcessEnv = {}) =>
    startDevServer({ binary, paths, env, logFile: join(paths.logs, 'temporal.log') });

  test('a second one on the same database is refused; the first goes on, in WAL mode', async () => {
    const first = await start();
    try {
      await expect(start()).rejects.toMatchObject({ slug: 'service-busy' });
      expect(databaseUsers(paths.temporalDb).map(({ pid }) => pid)).toEqual([first.pid]);
      for (const file of [paths.temporalDb, `${paths.temporalDb}-wal`]) expect(statSync(file).mode & 0o077).toBe(0);
      const connection = await Connection.connect({ address: first.address });
      await connection.close();
    } finally {
      await first.stop(5_000);
    }
    expect(databaseUsers(paths.temporalDb)).toEqual([]);
  });

  test('a fixed port that is taken is an error; a remembered one is replaced', async () => {
    const blocker = createServer();
    const port = await new Promise<number>((done) =>
      blocker.listen(0, '127.0.0.1', () => done((blocker.address() as { port: number }).port)),
    );
    try {
      await expect(start({ LONGHAUL_TEMPORAL_PORT: String(port) })).rejects.toMatchObject({ slug: 'port-taken' });
      await expect(start({ LONGHAUL_TEMPORAL_PORT: 'many' })).rejects.toMatchObject({ slug: 'bad-settings' });
      writeFileSync(paths.temporalPorts, JSON.stringify({ grpc: port, ui: port }));
      const server = await start();
      expect(server.address).not.toBe(`127.0.0.1:${port}`);
      await server.stop(5_000);
    } finally {
      blocker.close();
    }
  });

  test('a database that is none is left as it is', async () => {
    const other = homePaths(mkdtempSync(join(tmpdir(), 'longhaul-corrupt-')));
    const bytes = 'this is not a database, '.repeat(1000);
    writeFileSync(other.temporalDb, bytes);
    const logFile = join(other.logs, 'temporal.log');
    await expect(startDevServer({ binary, paths: other, env: {}, logFile })).rejects.toMatchObject({
      slug: 'service-failed',
      message: expect.stringContaining('not a database') as string,
    });
    expect(readFileSync(other.temporalDb, 'utf8')).toBe(bytes);
    expect(databaseUsers(other.temporalDb)).toEqual([]);
    rmSync(other.home, { recursive: true, force: true });
  });
});

/** TCP ports that a process listens on, from Linux's proc files. */
function listeningPorts(pid: number): number[] {
  const sockets = new Set<string>();
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
    if (inode !== undefined) sockets.add(inode);
  }
  const rows = readFileSync(`/proc/${pid}/net/tcp`, 'utf8').trim().split('\n').slice(1);
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter((fields) => fields[3] === '0A' && sockets.has(fields[9] ?? ''))
    .map((fields) => Number.parseInt(fields[1]?.split(':')[1] ?? '', 16));
}

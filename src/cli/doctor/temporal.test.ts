import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../../test/support/temporal.js';
import { recordEnvironment } from '../../service/environment.js';
import { acquireLock } from '../../service/lock.js';
import { processRef } from '../../service/processes.js';
import type { ServiceState } from '../../service/service.js';
import { homePaths } from '../../settings/paths.js';
import { beginExamination } from './examination.js';
import { searchAttributesCheck } from './search-attributes.js';
import { serviceCheck, serviceFinding } from './service.js';
import { lookAtServer, lookAtService } from './temporal-look.js';
import { temporalServerFinding } from './temporal-server.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'longhaul-doctor-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const running: ServiceState = {
  pid: process.pid,
  address: '127.0.0.1:7233',
  namespace: 'default',
  ui: 'http://127.0.0.1:8233',
  version: '0.1.0',
  build: 'b',
  root: '/r',
  processStart: processRef(process.pid)!.start,
  environment: recordEnvironment({}),
  started: Date.parse('2026-01-02T03:04:05Z'),
  temporalPid: process.pid,
  workerPid: process.pid,
};

describe('with a server', () => {
  let server: TestServer;
  let connection: Connection;
  beforeAll(async () => {
    server = await startTestServer();
    connection = await Connection.connect({ address: server.address });
  });
  afterAll(async () => {
    await connection.close();
    await server.stop();
  });

  const named = (namespace: string) => ({ TEMPORAL_ADDRESS: server.address, TEMPORAL_NAMESPACE: namespace });
  const attributes = async (namespace: string) => {
    const exam = beginExamination({ home, env: named(namespace) });
    const finding = await searchAttributesCheck.look(exam);
    await exam.close();
    return finding;
  };
  const register = async (namespace: string) => {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as unknown as Long },
    });
    return namespace;
  };

  it('a named one is well when it answers and has the namespace', async () => {
    const look = await lookAtServer({ home, env: named(server.namespace) });
    expect(temporalServerFinding(look)).toEqual({
      state: 'ok',
      found: `${server.address}, namespace default (named by the environment)`,
    });
    if (look.state === 'reachable') await look.temporal.close();
  });

  it('it is broken without the namespace, and the text says how to make it', async () => {
    const finding = temporalServerFinding(await lookAtServer({ home, env: named('nowhere') }));
    expect(finding).toMatchObject({ state: 'bad', found: `${server.address} answers, but has no namespace nowhere` });
    expect(finding.next).toContain(`namespace create --namespace nowhere --address ${server.address}`);
  });

  it('search attributes are well when all are there', async () => {
    expect(await attributes(server.namespace)).toEqual({
      state: 'ok',
      found: 'LonghaulStatus, LonghaulAsk, LonghaulWaitingSince',
    });
  });

  it('they deserve a look when some are missing, and are broken when one has another type', async () => {
    const namespace = await register('bare');
    // a namespace is known to all parts of the server only after a moment
    await expect.poll(() => attributes(namespace), { timeout: 20_000 }).toMatchObject({ state: 'warn' });
    const missing = await attributes(namespace);
    expect(missing?.found).toContain('missing: LonghaulStatus, LonghaulAsk, LonghaulWaitingSince');
    expect(missing?.next).toContain('--namespace bare --name LonghaulStatus --type Keyword');
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { LonghaulAsk: 3 } });
    await expect
      .poll(() => attributes(namespace), { timeout: 20_000 })
      .toMatchObject({ state: 'bad', found: expect.stringMatching(/LonghaulAsk \(Keyword is needed\); missing: /) });
  });

  it('they are not looked at where no server is reached', async () => {
    expect(await searchAttributesCheck.look(beginExamination({ home, env: {} }))).toBeUndefined();
  });
});

describe('Temporal server', () => {
  const finding = async (env: NodeJS.ProcessEnv, ms?: number) =>
    temporalServerFinding(await lookAtServer({ home, env }, ms));

  it('is well when none is named and the service rests', async () => {
    expect(await finding({})).toMatchObject({ state: 'ok', found: expect.stringContaining('not running') });
  });

  it('is broken when nothing listens, nothing answers, or the settings cannot be used', async () => {
    const closed = await finding({ TEMPORAL_ADDRESS: '127.0.0.1:1' });
    expect(closed).toMatchObject({ state: 'bad', found: expect.stringMatching(/127\.0\.0\.1:1 cannot.*refused/) });
    const silent = await new Promise<Server>((done) => {
      const server = createServer(() => undefined).listen(0, '127.0.0.1', () => done(server));
    });
    const { port } = silent.address() as { port: number };
    expect((await finding({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` }, 500)).found).toContain(
      'nothing answered within 0.5 s',
    );
    silent.close();
    const misnamed = await finding({ TEMPORAL_CONFIG_FILE: join(home, 'absent.toml') });
    expect(misnamed).toMatchObject({ state: 'bad', found: expect.stringContaining('absent.toml') });
    const target = { address: 'cloud.example:7233', namespace: 'n', embedded: false, options: {} };
    const refused = temporalServerFinding({ state: 'unreachable', target, why: 'no', code: 16 });
    expect(refused).toMatchObject({ state: 'bad', next: expect.stringContaining('TEMPORAL_API_KEY') });
  });

  it('is broken when that of the running service is gone', async () => {
    const lock = acquireLock(homePaths(home).serviceLock);
    writeFileSync(homePaths(home).service, JSON.stringify({ ...running, address: '127.0.0.1:1' }));
    expect(await finding({}, 500)).toMatchObject({ state: 'bad', next: expect.stringContaining('longhaul down') });
    if ('release' in lock) lock.release();
  });
});

describe('service', () => {
  const own = { version: '0.1.0', build: 'b', root: '/r' };
  const finding = (version = '0.1.0', env: NodeJS.ProcessEnv = {}, build = 'b') =>
    serviceFinding(lookAtService(homePaths(home)), { own: { ...own, version, build }, env, logs: '/home/logs' });
  /** What is found beside a service that says this of itself. */
  const beside = (state: ServiceState, ...args: Parameters<typeof finding>) => {
    const lock = acquireLock(homePaths(home).serviceLock);
    writeFileSync(homePaths(home).service, JSON.stringify(state));
    const found = finding(...args);
    if ('release' in lock) lock.release();
    return found;
  };

  it('is well when it rests, begins, or runs this version', () => {
    expect(finding()).toMatchObject({ state: 'ok', found: expect.stringContaining('not running') });
    const lock = acquireLock(homePaths(home).serviceLock);
    expect(finding()).toMatchObject({ state: 'ok', found: `starting or ending (process ${process.pid})` });
    writeFileSync(homePaths(home).service, JSON.stringify(running));
    expect(finding()).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(`running \\(process ${process.pid}, version 0\\.1\\.0\\) since 2026-01-0`),
    });
    if ('release' in lock) lock.release();
  });

  it('deserves a look when it runs another version or build, and the way to replace it is named', () => {
    const older = beside(running, '0.2.0');
    expect(older).toMatchObject({ state: 'warn', next: expect.stringMatching(/^`longhaul up` puts/) });
    expect(older.found).toContain('it is Longhaul 0.1.0, build b, in /r; this is Longhaul 0.2.0, build b, in /r');
    expect(beside(running, '0.1.0', {}, 'c').found).toContain('this is Longhaul 0.1.0, build c');
    expect(beside(running, '0.0.9').next).toMatch(/^`longhaul down`, then `longhaul up`/);
  });

  it('names the variables that it was started with otherwise, beside all else', () => {
    const found = beside(running, '0.2.0', { HTTPS_PROXY: 'http://me:secret@proxy', LONGHAUL_DEBUG: '1' });
    expect(found.state).toBe('warn');
    expect(found.found).toMatch(
      /this is Longhaul 0\.2\.0.*; it was started with another HTTPS_PROXY, LONGHAUL_DEBUG than/,
    );
    expect(found.next).toMatch(/^`longhaul up` puts .*`longhaul down`, then `longhaul up`/);
    expect(JSON.stringify(found)).not.toContain('secret');
  });

  it('is broken when its worker does not last, and is well after a single end of it', () => {
    const { workerPid: _, ...without } = running;
    const trouble = { at: Date.now(), times: 3, message: 'The worker ended with code 1. The end of its log:\nboom' };
    expect(beside({ ...without, workerTrouble: trouble })).toMatchObject({
      state: 'bad',
      found: expect.stringMatching(/its worker did not last 3 times in a row: The worker ended with code 1$/),
      next: expect.stringContaining('/home/logs/worker.log'),
    });
    expect(beside({ ...running, workerTrouble: { ...trouble, times: 1 } }).state).toBe('ok');
  });

  it('deserves a look when it was killed, with what it left', () => {
    const { service, serviceChildren } = homePaths(home);
    writeFileSync(service, JSON.stringify({ ...running, pid: 2 ** 22 + 1 }));
    expect(finding()).toMatchObject({ state: 'warn', found: 'it was killed, and its files are still there' });
    writeFileSync(
      serviceChildren,
      JSON.stringify({ worker: processRef(process.pid), temporal: { pid: 1, start: 'x' } }),
    );
    expect(finding().found).toBe(`it was killed, and its files and process ${process.pid} are still there`);
  });

  it('deserves a look when its last start failed', () => {
    const failure = { at: Date.now(), slug: 'port-taken', message: 'Port 7233 is used.', next: 'Unset it.' };
    mkdirSync(home, { recursive: true });
    writeFileSync(homePaths(home).serviceFailure, JSON.stringify(failure));
    expect(finding()).toMatchObject({
      state: 'warn',
      found: expect.stringContaining('Port 7233 is used.'),
      next: 'Unset it.',
    });
  });

  it('has no row where a server is named', async () => {
    const exam = beginExamination({ home, env: { TEMPORAL_ADDRESS: '127.0.0.1:1' } });
    expect(await serviceCheck.look(exam)).toBeUndefined();
  });
});

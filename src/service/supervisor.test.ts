import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { said, TASK } from '../../test/support/cli.js';
import { databaseUsers } from '../devserver/server.js';
import { openJournal } from '../journal/open.js';
import { homePaths } from '../settings/paths.js';
import { serviceNotes } from './differences.js';
import { requireRunning } from './health.js';
import { lockHolder } from './lock.js';
import { LOG_BYTES } from './logs.js';
import { packageIdentity, packageRoot } from './package.js';
import { goneWithin, isAlive, processRef } from './processes.js';
import type { ServiceState } from './service.js';
import { runSupervisor } from './supervisor.js';
import { down, readService, up } from './up.js';

const READY = 'process.send({ type: "ready" }); setInterval(() => {}, 1000);';

let home: string;
const serviceCommand = [process.execPath, join(packageRoot, 'test', 'support', 'stub-service.mjs')];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'longhaul-service-'));
});

afterEach(async () => {
  await down({ home });
  rmSync(home, { recursive: true, force: true });
});

/** Both children are there. */
type RunningState = ServiceState & { temporalPid: number; workerPid: number };

const isRunning = (state: ServiceState): state is RunningState =>
  state.temporalPid !== undefined && state.workerPid !== undefined;

async function start(worker = READY): Promise<RunningState> {
  const state = await up({ home, env: { ...process.env, STUB_WORKER: worker }, serviceCommand });
  if (!isRunning(state)) throw new Error('a child of the service is missing');
  return state;
}

describe('the service', () => {
  test('many callers get one; down leaves no process and no service.json', async () => {
    const states = await Promise.all(Array.from({ length: 4 }, () => start()));
    const [first] = states as [RunningState];
    for (const state of states) expect(state).toEqual(first);
    const refs = [first.pid, first.temporalPid, first.workerPid].map((pid) => processRef(pid));
    expect(refs.every((ref) => ref !== undefined)).toBe(true);
    expect(await start()).toEqual(first);

    expect(await down({ home })).toBe(true);
    for (const ref of refs) expect(ref && isAlive(ref)).toBe(false);
    expect(existsSync(homePaths(home).service)).toBe(false);
    expect(await readService(home)).toBeUndefined();
    expect(databaseUsers(homePaths(home).temporalDb)).toEqual([]);
    expect(await down({ home })).toBe(false);
  });

  test('a second supervisor of the same home is refused', async () => {
    const first = await start();
    const second = runSupervisor({ home, env: process.env, signal: new AbortController().signal });
    await expect(second).rejects.toMatchObject({ slug: 'service-busy' });
    expect(await readService(home)).toEqual(first);
  });

  test('a killed server and a killed worker come back, at the same address', async () => {
    const first = await start();
    process.kill(first.temporalPid, 'SIGKILL');
    const second = await changed((state) => state.temporalPid !== first.temporalPid);
    expect({ address: second.address, ui: second.ui }).toEqual({ address: first.address, ui: first.ui });
    await (await Connection.connect({ address: second.address })).close();

    process.kill(second.workerPid, 'SIGKILL');
    const third = await changed((state) => state.workerPid !== second.workerPid);
    expect(processRef(third.workerPid)).toBeDefined();

    process.kill(third.workerPid, 'SIGKILL');
    process.kill(third.temporalPid, 'SIGKILL');
    const last = await changed(
      (state) => state.workerPid !== third.workerPid && state.temporalPid !== third.temporalPid,
    );
    expect(last).toMatchObject({ pid: first.pid, address: first.address, started: first.started });
  });

  test('after a kill -9 of the service the next one ends what it left, and has the same address', async () => {
    const first = await start();
    const [service, server, worker] = [first.pid, first.temporalPid, first.workerPid].map((pid) => processRef(pid));
    process.kill(first.pid, 'SIGKILL');
    if (service) await goneWithin(service, 5_000);
    expect(await readService(home)).toBeUndefined();
    expect(server && isAlive(server)).toBe(true);

    const second = await start();
    expect(second.address).toBe(first.address);
    expect(second.pid).not.toBe(first.pid);
    expect([server, worker].map((ref) => ref && isAlive(ref))).toEqual([false, false]);

    process.kill(second.pid, 'SIGKILL');
    expect(await down({ home })).toBe(true);
    expect([second.temporalPid, second.workerPid].map((pid) => processRef(pid))).toEqual([undefined, undefined]);
  });

  test('a service that is killed, or told to end, while it starts does not stop the caller from getting one', async () => {
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      const starting = start();
      let holder = lockHolder(homePaths(home).serviceLock);
      while (!holder) {
        await sleep(5);
        holder = lockHolder(homePaths(home).serviceLock);
      }
      process.kill(holder.pid, signal);
      const state = await starting;
      expect(state.pid).not.toBe(holder.pid);
      expect(databaseUsers(homePaths(home).temporalDb).map(({ pid }) => pid)).toEqual([state.temporalPid]);
      await down({ home });
    }
  });

  test('a worker that cannot start is an error with the end of its log, and nothing stays', async () => {
    const failed = start('console.error("no such setting"); process.exit(3);');
    await expect(failed).rejects.toMatchObject({
      slug: 'service-failed',
      message: expect.stringContaining('no such setting') as string,
    });
    expect(databaseUsers(homePaths(home).temporalDb)).toEqual([]);
    const good = await start();
    expect(good.workerPid).toBeGreaterThan(0);
  });

  test('a worker that does not stay up is said so by state, notes and up, until it does', async () => {
    const broken = join(home, 'broken');
    const fails = `if (require('node:fs').existsSync(${JSON.stringify(broken)})) { console.error('no such setting'); process.exit(3); }`;
    const first = await start(`${fails} ${READY}`);
    expect(await requireRunning(home, first)).toEqual(first);
    writeFileSync(broken, '');
    const killed = { pid: first.workerPid, start: processRef(first.workerPid)?.start ?? '' };
    process.kill(killed.pid, 'SIGKILL');
    await goneWithin(killed, 10_000);
    await expect(requireRunning(home, first)).rejects.toMatchObject({
      slug: 'service-failed',
      message: expect.stringMatching(/but its worker does not[\s\S]*exit code 3[\s\S]*no such setting/) as string,
    });
    const failing = await readService(home);
    expect(failing).not.toHaveProperty('workerPid');
    expect(failing?.pid).toBe(first.pid);
    const notes = serviceNotes(failing as ServiceState, packageIdentity(), process.env);
    expect(notes).toEqual([expect.stringMatching(/no worker that lasts.*exit code 3/)]);
    rmSync(broken);
    const again = await changed(() => true);
    expect(again.workerPid).not.toBe(first.workerPid);
    expect(again.workerTrouble?.times).toBeGreaterThanOrEqual(3);
  });

  test('what a worker writes fast is rotated, and no line of it is missing', async () => {
    const writes = `const { writeSync } = require('node:fs'); let n = 0;
      setInterval(() => { for (const end = n + 20_000; n < end; n++) writeSync(1, n + '\\n'); }, 10);`;
    await start(`${READY} ${writes}`);
    const log = join(homePaths(home).logs, 'worker.log');
    while (!existsSync(`${log}.2`)) await sleep(50);
    await down({ home });
    const sizes = readdirSync(homePaths(home).logs).map((name) => statSync(join(homePaths(home).logs, name)).size);
    expect(Math.max(...sizes)).toBeLessThan(3 * LOG_BYTES);
    const text = [3, 2, 1].map((n) => (existsSync(`${log}.${n}`) ? readFileSync(`${log}.${n}`, 'utf8') : '')).join('');
    const lines = (text + readFileSync(log, 'utf8')).split('\n').slice(1, -1).map(Number);
    expect(lines.findIndex((line, n) => line !== lines[0]! + n)).toBe(-1);
  });

  test('is refused where another server is named', async () => {
    const named = up({ home, env: { ...process.env, TEMPORAL_ADDRESS: 'team.example:7233' }, serviceCommand });
    await expect(named).rejects.toMatchObject({
      slug: 'bad-settings',
      message: expect.stringMatching(/TEMPORAL_ADDRESS.*team\.example:7233/) as string,
      next: expect.stringContaining('longhaul worker') as string,
    });
    expect(existsSync(homePaths(home).logs)).toBe(false);
  });

  test('beside a Temporal database without a journal it does not start, and says so', async () => {
    writeFileSync(homePaths(home).temporalDb, '');
    await expect(start()).rejects.toMatchObject({ slug: 'journal-lost' });
    expect(existsSync(homePaths(home).journal)).toBe(false);
  });

  test('a worker that hangs is replaced, on the same server', async () => {
    const alive = 'setInterval(() => process.send({ type: "alive" }), 500);';
    const first = await start(`${alive} ${READY}`);
    await sleep(1_500);
    process.kill(first.workerPid, 'SIGSTOP');
    const second = await changed((state) => state.workerPid !== first.workerPid);
    expect(second).toMatchObject({ pid: first.pid, address: first.address, temporalPid: first.temporalPid });
    expect(processRef(first.workerPid)).toBeUndefined();
    const log = readFileSync(join(homePaths(home).logs, 'service.log'), 'utf8');
    expect(log).toContain(`the worker (process ${first.workerPid}) has given no sign of life`);
  }, 90_000);

  test('the worker is told where Temporal is', async () => {
    const file = join(home, 'told.json');
    const write = `require('node:fs').writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.env)); ${READY}`;
    const state = await start(write);
    const env = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    expect(env).toMatchObject({
      LONGHAUL_HOME: home,
      TEMPORAL_ADDRESS: state.address,
      TEMPORAL_NAMESPACE: state.namespace,
      LONGHAUL_EMBEDDED: '1',
    });
  });

  test('ends by itself when no task has been open for the idle time', async () => {
    const state = await up({ home, env: { ...process.env, LONGHAUL_IDLE_MINUTES: '0.01' }, serviceCommand });
    const ref = processRef(state.pid);
    if (ref) expect(await goneWithin(ref, 30_000)).toBe(true);
    expect(await readService(home)).toBeUndefined();
    expect(readFileSync(join(homePaths(home).logs, 'service.log'), 'utf8')).toContain('no task has been open');
  });
});

test('a service does not end under a task that the journal has and Temporal does not have yet', async () => {
  const env = { ...process.env, LONGHAUL_IDLE_MINUTES: '0.01' };
  const journal = await openJournal({ home });
  await journal.createTask({ task: TASK, workspace: home, model: 'm', title: 't', input: '{}' });
  const state = await up({ home, env, serviceCommand });
  // it is withdrawn for a moment, and found again
  for (const path = homePaths(home).service; existsSync(path); ) await sleep(20);
  expect(await up({ home, env, serviceCommand })).toEqual(state);
  await journal.append(TASK, [{ event: said.completed('done') }]);
  await journal.close();
  expect(await goneWithin({ pid: state.pid, start: state.processStart }, 30_000)).toBe(true);
});

async function changed(done: (state: RunningState) => boolean): Promise<RunningState> {
  for (;;) {
    const state = await readService(home);
    if (state && isRunning(state) && done(state)) return state;
    await sleep(25);
  }
}

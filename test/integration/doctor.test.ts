import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type FakeModel, startFakeModel } from '../../src/fake-model/index.js';
import { openJournal } from '../../src/journal/open.js';
import { down } from '../../src/service/up.js';
import { homePaths } from '../../src/settings/paths.js';
import { COMMAND, runCli } from '../support/world.js';

interface Report {
  temporal: { address: string | null; ui: string | null; reachable: boolean; embedded: boolean };
  rows: { name: string; state: string; found: string; next?: string }[];
}

let home: string;
let model: FakeModel;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'longhaul-doctor-'));
  model = await startFakeModel();
  env = {
    PATH: process.env.PATH,
    HOME: home,
    LONGHAUL_HOME: home,
    LONGHAUL_TEMPORAL_CLI: inject('temporalCli'),
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'key-of-the-test',
  };
});

afterAll(async () => {
  await down({ home });
  await model.close();
  rmSync(home, { recursive: true, force: true });
});

async function doctor(more: NodeJS.ProcessEnv = {}) {
  const { code, out, lines } = await runCli(['doctor', '--json'], { ...env, ...more });
  const report = lines[0] as unknown as Report;
  expect(out).not.toContain('key-of-the-test');
  return { code, report, row: (name: string) => report.rows.find((row) => row.name === name) };
}

test('on a new home it starts and makes nothing, and finds nothing broken', async () => {
  const { code, report, row } = await doctor();
  expect(readdirSync(home)).toEqual([]);
  expect(code).toBe(0);
  expect(report.temporal).toMatchObject({ address: null, reachable: false, embedded: true });
  expect(row('service')?.found).toContain('not running');
  expect(row('model')?.state).toBe('ok');
});

describe('beside the service', () => {
  beforeAll(async () => {
    expect((await runCli(['up'], env)).code).toBe(0);
  });

  test('all that belongs to it is well', async () => {
    const { code, report, row } = await doctor();
    expect(code).toBe(0);
    expect(report.temporal).toMatchObject({ address: expect.stringMatching(/^127\./), reachable: true });
    const names = [
      'service',
      'Temporal server',
      "Temporal's UI",
      'search attributes',
      'workers',
      'journal',
      'profiles',
    ];
    for (const name of [...names, 'clock']) expect(row(name)).toMatchObject({ state: 'ok' });
    expect(row('workers')?.found).toMatch(/\(process \d+\)/);
    expect(row("Temporal's UI")?.found).toContain(`${report.temporal.ui},`);
  });

  test('one of another version is told of', async () => {
    const { service } = homePaths(home);
    const state = readFileSync(service, 'utf8');
    writeFileSync(service, JSON.stringify({ ...JSON.parse(state), version: '0.0.1' }));
    const { code, row } = await doctor();
    writeFileSync(service, state);
    expect(code).toBe(0);
    expect(row('service')).toMatchObject({ state: 'warn', next: expect.stringContaining('longhaul up') });
  });

  test('a server that is gone is broken, and so are workers while a task is open', async () => {
    const journal = await openJournal({ home });
    await journal.createTask({ task: 'waits', workspace: '/w', model: 'm', title: 't', input: '{}' });
    const { pid, temporalPid, workerPid } = JSON.parse(readFileSync(homePaths(home).service, 'utf8'));
    // stopped, so that it brings back neither of them
    process.kill(pid, 'SIGSTOP');
    process.kill(workerPid, 'SIGKILL');
    process.kill(temporalPid, 'SIGKILL');
    for (const lease of await journal.liveWorkers()) await journal.dropLease(lease);
    const { code, row } = await doctor();
    expect(code).toBe(1);
    expect(row('Temporal server')).toMatchObject({ state: 'bad', found: expect.stringContaining('cannot be reached') });
    expect(row('workers')).toMatchObject({ state: 'bad', found: expect.stringContaining('1 task is open') });
    await journal.append('waits', [
      {
        event: {
          type: 'closed',
          outcome: { outcome: 'cancelled' },
          totals: {
            turns: 0,
            cost: 0,
            usage: { inputTokens: 0, outputTokens: 0, cacheWriteTokens: 0, cacheReadTokens: 0 },
          },
        },
      },
    ]);
    await journal.close();
    process.kill(pid, 'SIGKILL');
  });

  test('one that was killed is told of, until it is cleared up', async () => {
    expect((await doctor()).row('service')).toMatchObject({ state: 'warn', found: expect.stringContaining('killed') });
    await down({ home });
    expect((await doctor()).row('service')).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('not running'),
    });
  });
});

// what root may do is no measure
const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const { status: reaches } = spawnSync(process.execPath, ['-e', `fs.accessSync(${JSON.stringify(COMMAND)})`], user);

test.skipIf(reaches !== 0)(
  'a home that cannot be written is broken (where another user may read this checkout)',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'longhaul-doctor-'));
    if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
    chmodSync(folder, 0o500);
    const { status, stdout } = spawnSync(process.execPath, [COMMAND, 'doctor', '--json', '--offline'], {
      ...user,
      env: { ...env, LONGHAUL_HOME: folder },
      encoding: 'utf8',
    });
    chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true });
    const row = (JSON.parse(stdout) as Report).rows.find(({ name }) => name === 'home');
    expect(row).toMatchObject({ state: 'bad', found: `${folder} cannot be written` });
    expect(status).toBe(1);
  },
);

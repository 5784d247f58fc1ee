import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { call, type FakeModel, finish, type Responder, startFakeModel } from '../../src/fake-model/index.js';
import { goneWithin, type ProcessRef, processRef } from '../../src/service/processes.js';
import { asksOnce, pidsOf, type ServiceHome, serviceHome } from '../support/service.js';
import { runCli, until } from '../support/world.js';

const completes = () => [call('attempt_completion', { result: 'done' }), finish()];

/** Kills them all before any is waited for. */
async function kill9(pids: readonly number[]): Promise<void> {
  const refs = pids.map((pid) => processRef(pid)).filter((ref): ref is ProcessRef => ref !== undefined);
  for (const { pid } of refs) process.kill(pid, 'SIGKILL');
  for (const ref of refs) await goneWithin(ref, 10_000);
}

/** Whoever starts the service says so. */
const withoutStart = (err: string) => err.replace('Starting the Longhaul service.\n', '');

describe('the service', () => {
  let model: FakeModel;
  let service: ServiceHome;

  const begin = async (responder: Responder, name?: string) => {
    model = await startFakeModel({ responder });
    service = serviceHome(model, name);
  };

  afterEach(async () => {
    await service.stop();
    await model.close();
    expect(model.refused()).toEqual([]);
  });

  it('is one for ten runs that start at the same moment on an empty home', async () => {
    await begin(completes, 'ein Heim mit Leerzeichen und 漢字');
    const runs = Array.from({ length: 10 }, () =>
      service.cli(['run', 'Go.', '--json', '--workspace', service.workspace()]),
    );
    const results = await Promise.all(runs);
    expect(results.map(({ code, err }) => [code, withoutStart(err)])).toEqual(Array(10).fill([0, '']));
    expect(new Set(results.map(({ lines }) => lines[0]?.task)).size).toBe(10);
    expect(results.map(({ lines }) => lines.at(-1)?.outcome)).toEqual(Array(10).fill('completed'));
    expect(service.servicePids()).toEqual(pidsOf(await service.state()));
    expect(model.requests).toHaveLength(10);
  }, 180_000);

  it('goes on with what waits after a kill -9 of each of its processes, and of all', async () => {
    await begin(asksOnce);
    expect((await service.cli(['up'])).code).toBe(0);
    const victims = [
      ({ pid }: { pid: number }) => [pid],
      ({ temporalPid }: { temporalPid: number }) => [temporalPid],
      ({ workerPid }: { workerPid: number }) => [workerPid],
      () => service.pids(),
    ];
    for (const victim of victims) {
      const task = await service.waitingTask();
      await kill9(victim(await service.state()));
      const answered = await service.cli(['answer', task, 'tabs']);
      expect([answered.code, withoutStart(answered.err)]).toEqual([0, '']);
      const { code, lines } = await service.cli(['attach', task, '--json']);
      expect([code, lines.at(-1)?.outcome]).toEqual([0, 'completed']);
    }
  }, 240_000);

  it('is ended by down and by idle time, but not while a task is open', async () => {
    await begin(asksOnce);
    service.env.LONGHAUL_IDLE_MINUTES = '0.03';
    const task = await service.waitingTask();
    const { pid, processStart } = await service.state();
    // the idle time and the moment of grace are over
    await sleep(7_000);
    expect((await service.state()).pid).toBe(pid);
    expect((await service.cli(['answer', task, 'tabs'])).code).toBe(0);
    expect((await service.cli(['attach', task, '--json'])).lines.at(-1)).toMatchObject({ outcome: 'completed' });
    expect(await goneWithin({ pid, start: processStart }, 60_000)).toBe(true);
    await until(() => service.pids().length === 0);

    const other = await service.waitingTask();
    expect((await service.cli(['down'])).code).toBe(0);
    expect(service.pids()).toEqual([]);
    expect((await service.cli(['answer', other, 'spaces'])).code).toBe(0);
    expect((await service.cli(['attach', other, '--json'])).lines.at(-1)).toMatchObject({ outcome: 'completed' });
  }, 180_000);

  it('survives up and down called at the same time, in any order', async () => {
    await begin(completes);
    for (let round = 0; round < 2; round++) {
      const calls = ['up', 'down', 'up', 'down'].map(async (name, n) => {
        await sleep(n * 150 * round);
        return service.cli([name]);
      });
      for (const { code, err } of await Promise.all(calls)) expect(code, err).toBe(0);
      expect((await service.cli(['up'])).code).toBe(0);
      expect(service.servicePids()).toEqual(pidsOf(await service.state()));
    }
  }, 180_000);

  it('tells a caller which variables differ, and no value', async () => {
    await begin(asksOnce);
    service.env.NODE_EXTRA_CA_CERTS = '';
    const first = { HTTPS_PROXY: 'http://user:first-secret@proxy.example', LONGHAUL_IDLE_MINUTES: '7' };
    expect(await service.cli(['up'], { env: first })).toMatchObject({
      code: 0,
      err: expect.not.stringMatching(/note/) as string,
    });
    const same = await service.cli(['up'], { env: first });
    expect(same).toMatchObject({ code: 0, err: '' });
    const env = { HTTPS_PROXY: 'http://user:second-secret@proxy.example' };
    const run = await service.cli(['run', 'Ask.', '--json', '--workspace', service.workspace()], { env });
    expect(run.code).toBe(3);
    const [note, ...more] = run.err
      .trimEnd()
      .split('\n')
      .filter((line) => line.startsWith('note:'));
    expect(more).toEqual([]);
    expect(note).toMatch(/another HTTPS_PROXY, LONGHAUL_IDLE_MINUTES than this shell has.*down`.*up`/);
    expect(run.err + JSON.stringify(await service.state())).not.toMatch(/secret|proxy\.example/);
    const up = await service.cli(['up', '--json'], { env });
    expect(up.err).toContain('HTTPS_PROXY');
    expect(up.lines[0]).not.toHaveProperty('environment');
  }, 120_000);
});

describe('a home', () => {
  let folder: string;
  let model: FakeModel;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'longhaul-homes-'));
    model = await startFakeModel({ responder: completes });
  });
  afterEach(async () => {
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('has a service of its own; a relative one is taken from the current folder', async () => {
    const [one, two] = [serviceHome(model), serviceHome(model)];
    try {
      const relative = { env: { LONGHAUL_HOME: './home' }, cwd: join(one.home, '..') };
      const runs = [one.cli(['run', 'Go.', '--json', '--workspace', one.workspace()], relative)];
      runs.push(two.cli(['run', 'Go.', '--json', '--workspace', two.workspace()]));
      for (const { code, err } of await Promise.all(runs)) expect(code, err).toBe(0);
      const [first, second] = [await one.state(), await two.state()];
      expect(first.address).not.toBe(second.address);
      expect((await one.cli(['down'])).code).toBe(0);
      expect(two.servicePids()).toEqual(pidsOf(second));
    } finally {
      await one.stop();
      await two.stop();
    }
  }, 120_000);

  it.each([[['up']], [['up', '--foreground']], [['run', 'Go.']], [['down']]])(
    'that cannot be written is an error that says so: %j',
    async (args) => {
      const file = join(folder, 'file');
      writeFileSync(file, '');
      mkdirSync(join(folder, 'ws'));
      const env = {
        ...process.env,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'k',
        LONGHAUL_HOME: join(file, 'home'),
      };
      const { code, err } = await runCli(args, env, { cwd: join(folder, 'ws') });
      expect(err).not.toContain('internal.md');
      if (args[0] === 'down') expect(code).toBe(0);
      else expect([code, err]).toEqual([1, expect.stringMatching(/^error: .*(cannot be|cannot write)/m) as string]);
    },
  );
});

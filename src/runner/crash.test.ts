import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  commandBench,
  outputOf,
  processesOf,
  processesWith,
  sizeOf,
  textOf,
  until,
  workerProcess,
} from '../../test/support/commands.js';
import { runCommand } from './attach.js';
import { bootId, identify, isAlive } from './identity.js';
import { type CommandSpec, files, readClaim, readExit } from './layout.js';
import { endCommands, removeCommands, sweepCommands } from './sweep.js';

function runnerOf(dir: string) {
  const { claim } = readClaim(dir);
  if (claim === undefined) throw new Error('no claim');
  return claim.runner;
}

/** Writes what a worker writes before it starts a runner. */
function writeSpec(request: { dir: string; spec: object }, more: Partial<CommandSpec> = {}): void {
  mkdirSync(request.dir, { recursive: true });
  const spec = { v: 1, maxOutputBytes: 1e9, boot: bootId(), ...request.spec, ...more };
  writeFileSync(files.spec(request.dir), JSON.stringify(spec));
}

/** A process that has been, and is no more. */
function deadIdentity() {
  const pid = spawnSync('true').pid;
  return { pid, start: '1', boot: bootId() };
}

test('worker killed in the middle: the next one attaches, and the command has run once', async () => {
  const bench = commandBench();
  const request = bench.request(
    `echo x >> ${bench.counter}; echo a; while [ ! -e go ]; do sleep 0.02; done; echo b; exit 7`,
  );
  const worker = workerProcess(request);
  await until(() => textOf(bench.counter) !== '', 'the command to begin');
  worker.kill('SIGKILL');
  await outputOf(worker);
  const attached = runCommand(request);
  writeFileSync(join(bench.root, 'go'), '');
  expect(await attached).toMatchObject({ end: 'exited', code: 7, head: Buffer.from('a\nb\n') });
  expect(textOf(bench.counter)).toBe('x\n');
});

test('worker killed at any moment from the start on: run once', async () => {
  const bench = commandBench();
  for (let delay = 0; delay < 400; delay += 40) {
    const counter = `${bench.counter}-${delay}`;
    const request = bench.request(`echo x >> ${counter}; sleep 0.1; echo end`);
    const worker = workerProcess(request);
    await new Promise((resolve) => setTimeout(resolve, delay));
    worker.kill('SIGKILL');
    expect(await runCommand(request)).toMatchObject({ end: 'exited', code: 0 });
    expect(textOf(counter)).toBe('x\n');
  }
});

test('several workers start the same call at once: one run, one result for all', async () => {
  const bench = commandBench();
  const request = bench.request(`echo x >> ${bench.counter}; sleep 0.3; echo $$`);
  const workers = [workerProcess(request), workerProcess(request)].map(outputOf);
  const here = await Promise.all([runCommand(request), runCommand(request)]);
  const there = (await Promise.all(workers)).map((text) => JSON.parse(text));
  expect(textOf(bench.counter)).toBe('x\n');
  expect(here[1]).toEqual(here[0]);
  for (const end of there) expect(end).toMatchObject({ end: 'exited', ended: here[0]?.ended, bytes: here[0]?.bytes });
});

test('runner killed in the middle: unknown, output kept, nothing of the command lives on', async () => {
  const bench = commandBench();
  const request = bench.request(`echo x >> ${bench.counter}; echo so far; setsid sleep 600 & sleep 601`);
  let killed = false;
  const end = await runCommand({
    ...request,
    onOutput: () => {
      if (!killed) process.kill(runnerOf(request.dir).pid, 'SIGKILL');
      killed = true;
    },
  });
  expect(end).toMatchObject({ end: 'unknown', code: null, head: Buffer.from('so far\n') });
  expect(processesOf(request)).toEqual([]);
  expect((await runCommand(request)).end).toBe('unknown');
  expect(textOf(bench.counter)).toBe('x\n');
});

test('runner killed at any moment: at most one run, and the result says what is known', async () => {
  const bench = commandBench();
  for (let delay = 0; delay < 200; delay += 20) {
    const counter = `${bench.counter}-${delay}`;
    const request = bench.request(`echo x >> ${counter}; sleep 0.1`);
    const going = runCommand(request);
    await until(() => existsSync(request.dir) && readClaim(request.dir).claim !== undefined, 'a claim');
    await new Promise((resolve) => setTimeout(resolve, delay / 2));
    const runner = runnerOf(request.dir);
    if (isAlive(runner)) process.kill(runner.pid, 'SIGKILL');
    const { end } = await going;
    expect(['exited', 'unknown']).toContain(end);
    if (end === 'exited') expect(textOf(counter)).toBe('x\n');
    else expect(['', 'x\n']).toContain(textOf(counter));
    expect(processesOf(request)).toEqual([]);
  }
});

test('a claim whose runner died before the command began is taken over', async () => {
  const bench = commandBench();
  const request = bench.request(`echo x >> ${bench.counter}`);
  writeSpec(request);
  writeFileSync(files.claim(request.dir, 1), JSON.stringify({ id: 'dead', runner: deadIdentity() }));
  const ends = await Promise.all([runCommand(request), runCommand(request), runCommand(request)]);
  expect(ends.map(({ end }) => end)).toEqual(['exited', 'exited', 'exited']);
  expect(textOf(bench.counter)).toBe('x\n');
});

test('a shell of a dead runner that begins late keeps a second one from running', async () => {
  const bench = commandBench();
  const request = bench.request(`echo x >> ${bench.counter}`);
  writeSpec(request);
  writeFileSync(files.claim(request.dir, 1), JSON.stringify({ id: 'dead', runner: deadIdentity() }));
  writeFileSync(files.began(request.dir), 'dead 1');
  expect((await runCommand(request)).end).toBe('unknown');
  expect(existsSync(bench.counter)).toBe(false);
});

test('after a restart of the machine nothing is run again, whatever is on disk', async () => {
  const bench = commandBench();
  const request = bench.request(`echo x >> ${bench.counter}`);
  writeSpec(request, { boot: 'an earlier one' });
  expect((await runCommand(request)).end).toBe('unknown');
  expect(existsSync(bench.counter)).toBe(false);
});

test('the timeout holds while no worker lives', async () => {
  const bench = commandBench();
  const request = bench.request(`echo x >> ${bench.counter}; setsid sleep 600 & sleep 601`, { timeoutMs: 1000 });
  const worker = workerProcess(request);
  await until(() => textOf(bench.counter) !== '', 'the command to begin');
  worker.kill('SIGKILL');
  await until(() => readExit(request.dir) !== undefined, 'the runner to end it');
  expect(readExit(request.dir)).toMatchObject({ end: 'timed_out' });
  expect(processesOf(request)).toEqual([]);
});

test('the output limit holds while no worker lives', async () => {
  const bench = commandBench();
  const request = bench.request(`echo x >> ${bench.counter}; sleep 0.5; yes`, { maxOutputBytes: 4 << 20 });
  const worker = workerProcess(request);
  await until(() => textOf(bench.counter) !== '', 'the command to begin');
  worker.kill('SIGKILL');
  await until(() => readExit(request.dir) !== undefined, 'the runner to end it');
  expect(readExit(request.dir)).toMatchObject({ end: 'output_limit' });
  expect(sizeOf(request.dir)).toBeLessThan(1 << 20);
});

test('a runner kept ready goes with its worker', async () => {
  const bench = commandBench();
  const tag = `LONGHAUL_TEST_TAG=${bench.task}`;
  const worker = workerProcess(bench.request('true'), { LONGHAUL_TEST_TAG: bench.task });
  await outputOf(worker);
  await until(() => processesWith(tag).length === 0, 'the runner to go');
});

test('cancel does without a runner that is stopped', async () => {
  const bench = commandBench();
  const request = bench.request('echo up; sleep 600');
  const stop = new AbortController();
  const going = runCommand({
    ...request,
    signal: stop.signal,
    stopKind: () => 'cancel',
    onOutput: () => {
      process.kill(runnerOf(request.dir).pid, 'SIGSTOP');
      stop.abort();
    },
  });
  expect((await going).end).toBe('cancelled');
  expect(processesOf(request)).toEqual([]);
  expect(isAlive(runnerOf(request.dir))).toBe(false);
});

test('commands are ended from elsewhere, with or without worker and runner, and only the ones meant', async () => {
  const bench = commandBench();
  const make = () => bench.request('echo up > $LONGHAUL_CALL; sleep 600');
  const [withAll, withoutWorker, withoutRunner, other] = [make(), make(), make(), make()];
  const requests = [withAll, withoutWorker, withoutRunner, other];
  const workers = requests.map((request) => workerProcess(request));
  const outputs = workers.map(outputOf);
  await until(() => requests.every(({ spec }) => textOf(join(bench.root, spec.call)) !== ''), 'all to begin');
  for (const worker of workers.slice(1, 3)) worker.kill('SIGKILL');
  process.kill(runnerOf(withoutRunner.dir).pid, 'SIGKILL');
  const { ended, left } = await endCommands({
    commandsDir: bench.commandsDir,
    match: ({ task, call }) => task === bench.task && call !== other.spec.call,
  });
  expect({ ended, left }).toEqual({ ended: 3, left: 0 });
  expect([withAll, withoutWorker, withoutRunner].flatMap(processesOf)).toEqual([]);
  expect(JSON.parse((await outputs[0]) ?? '')).toMatchObject({ end: 'cancelled' });
  expect(readExit(withoutRunner.dir)).toMatchObject({ end: 'cancelled' });
  expect(processesOf(other).length).toBeGreaterThan(0);
  workers[3]?.kill('SIGKILL');
});

test('a sweep ends what belongs to closed tasks, concludes what is lost, and removes what is old', async () => {
  const bench = commandBench();
  const lost = bench.request('echo up; sleep 600');
  const worker = workerProcess(lost);
  await until(() => processesOf(lost).length > 0 && existsSync(files.began(lost.dir)), 'the command to begin');
  worker.kill('SIGKILL');
  process.kill(runnerOf(lost.dir).pid, 'SIGKILL');
  const left = bench.request('sleep 600 >/dev/null 2>&1 & echo done');
  await runCommand(left);
  const { commandsDir } = bench;

  await until(() => identify(runnerOf(lost.dir).pid) === undefined, 'the runner to die');
  expect(await sweepCommands({ commandsDir, isOpen: () => true })).toEqual({ ended: 1, removed: 0 });
  expect(readExit(lost.dir)).toMatchObject({ end: 'unknown' });
  expect(processesOf(lost)).toEqual([]);
  expect(processesOf(left).length).toBeGreaterThan(0);

  expect(await sweepCommands({ commandsDir, isOpen: () => false })).toEqual({ ended: 0, removed: 0 });
  expect(processesOf(left)).toEqual([]);
  const later = Date.now() + 8 * 24 * 3600 * 1000;
  expect(await sweepCommands({ commandsDir, isOpen: () => true, now: later })).toEqual({ ended: 0, removed: 0 });
  expect(await sweepCommands({ commandsDir, isOpen: () => false, now: later })).toEqual({ ended: 0, removed: 2 });
  expect(existsSync(left.dir)).toBe(false);
});

test('removing a task ends its commands first', async () => {
  const bench = commandBench();
  const request = bench.request('sleep 600 & echo done');
  await runCommand(request);
  await removeCommands(bench.commandsDir, bench.task);
  expect(processesOf(request)).toEqual([]);
  expect(existsSync(request.dir)).toBe(false);
});

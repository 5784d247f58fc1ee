import { expect, test } from 'vitest';
import { commandBench, processesOf } from '../../test/support/commands.js';
import { runCommand } from '../runner/attach.js';
import { disown, NOBODY, readOwner, takeOver } from '../runner/owner.js';
import { type RunLookup, RunSweeper } from './sweep-runs.js';

/** Runs as Temporal has them: each with the one before it and the calls in its history. */
type Runs = Record<string, { before?: string; calls?: string[] }>;

/** A command that has left a process in the background, started in run `r1`. */
async function leftBehind() {
  const bench = commandBench();
  const request = { ...bench.request('sleep 600 >/dev/null 2>&1 & echo up'), run: 'r1' };
  await runCommand(request);
  const state = { current: 'r1' as string | undefined, runs: {} as Runs, open: true };
  const lookup: RunLookup = {
    current: async () => state.current,
    history: async (_task, run) => {
      const found = state.runs[run];
      if (!found) throw new Error('not found');
      return { before: found.before, calls: new Set(found.calls) };
    },
  };
  const sweeper = new RunSweeper({ commandsDir: bench.commandsDir, isOpen: async () => state.open, lookup });
  const lives = () => processesOf(request).length > 0;
  return { request, call: request.spec.call, state, sweep: () => sweeper.sweep(), lives };
}

test('what a replaced run has left running ends after two looks that agree, not before', async () => {
  const { state, sweep, lives } = await leftBehind();
  expect(await sweep()).toBe(0);
  state.current = 'r2';
  state.runs = { r2: { before: 'r0' }, r0: {} };
  expect(await sweep()).toBe(0);
  state.current = 'r3';
  state.runs.r3 = { before: 'r2' };
  expect(await sweep()).toBe(0);
  expect(lives()).toBe(true);
  expect(await sweep()).toBe(1);
  expect(lives()).toBe(false);
  expect(await sweep()).toBe(0);
});

test('what belongs to the task lives on: its run led to the newest one, or its call is in that one’s history', async () => {
  const { state, sweep, lives, call } = await leftBehind();
  const histories: [string, Runs][] = [
    ['r3', { r3: { before: 'r2' }, r2: { before: 'r1' } }],
    ['r4', { r4: { before: 'r3' } }],
    ['c1', { c1: { before: 'r0', calls: ['other', call] } }],
    ['c3', { c3: { before: 'c2' }, c2: { calls: [call] } }],
  ];
  for (const [current, runs] of histories) {
    Object.assign(state, { current, runs });
    for (let look = 0; look < 3; look++) expect(await sweep()).toBe(0);
    expect(lives()).toBe(true);
  }
});

test('nothing is ended while it cannot be known, or for a task that is not open here', async () => {
  const { state, sweep, lives } = await leftBehind();
  state.current = 'r2';
  for (let look = 0; look < 3; look++) expect(await sweep()).toBe(0);
  state.runs = { r2: {} };
  state.open = false;
  for (let look = 0; look < 3; look++) expect(await sweep()).toBe(0);
  state.open = true;
  state.current = undefined;
  for (let look = 0; look < 3; look++) expect(await sweep()).toBe(0);
  expect(lives()).toBe(true);
});

test('a run that attaches between two looks keeps the command', async () => {
  const { state, sweep, lives, request } = await leftBehind();
  Object.assign(state, { current: 'r2', runs: { r2: {} } });
  expect(await sweep()).toBe(0);
  const seen = readOwner(request.dir);
  takeOver(request.dir, 'r2');
  takeOver(request.dir, 'r2');
  expect(readOwner(request.dir)).toEqual({ number: 2, run: 'r2' });
  expect(disown(request.dir, seen)).toBe(false);
  expect(await sweep()).toBe(0);
  expect(await sweep()).toBe(0);
  expect(lives()).toBe(true);
});

test('what was taken from its owner and not ended yet, is ended', async () => {
  const { sweep, lives, request } = await leftBehind();
  expect(disown(request.dir, readOwner(request.dir))).toBe(true);
  expect(readOwner(request.dir).run).toBe(NOBODY);
  expect(await sweep()).toBe(1);
  expect(lives()).toBe(false);
});

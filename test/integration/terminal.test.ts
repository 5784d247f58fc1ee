import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  call,
  delay,
  type FakeModel,
  finish,
  pace,
  type Step,
  say,
  startFakeModel,
} from '../../src/fake-model/index.js';
import { readService } from '../../src/service/up.js';
import { homePaths } from '../../src/settings/paths.js';
import { openTerminal, type TestTerminal } from '../support/terminal.js';
import { cleanEnv, modelEnv, runCli, until } from '../support/world.js';

const SCRIPT: Step[][] = [
  [
    pace(5),
    say(
      '# Plan\n\nI will **look** at `a.txt`, then change it, and I will say what I did in the end.\n\n```js\nlet a_b = 1; // **x**\n```',
    ),
    delay(3000),
    call('write_to_file', { path: 'a.txt', content: 'one\ntwo\n' }),
    finish(),
  ],
  [call('ask_followup_question', { question: 'Which *colour*?', options: '["red","blue"]' }), finish()],
  [call('attempt_completion', { result: 'It is **done**.' }), finish()],
];

describe('at a terminal of 80 columns', () => {
  let home: string;
  const workspaces: string[] = [];
  let model: FakeModel;
  let env: NodeJS.ProcessEnv;
  const open: TestTerminal[] = [];

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'longhaul-home-'));
    model = await startFakeModel({ responder: ({ turn }) => SCRIPT[turn] ?? [finish()] });
    // no status line is shown where CI is set
    const { CI: _, ...clean } = cleanEnv();
    env = modelEnv({ ...clean, LONGHAUL_HOME: home }, model);
  });
  afterEach(() => {
    for (const terminal of open.splice(0)) terminal.kill();
  });
  afterAll(async () => {
    await runCli(['down'], env);
    await model.close();
    for (const folder of [home, ...workspaces]) rmSync(folder, { recursive: true, force: true });
  });

  const longhaul = (...args: string[]) => {
    const terminal = openTerminal(args, { env });
    open.push(terminal);
    return terminal;
  };
  const run = () => {
    const workspace = mkdtempSync(join(tmpdir(), 'longhaul-ws-'));
    workspaces.push(workspace);
    return longhaul('run', 'Change a.txt.', '-w', workspace, '--approve', 'edit');
  };
  const taskOf = async (terminal: TestTerminal) => /^task (\w+)/.exec(await terminal.sees(/^task \w+/))?.[1] ?? '';

  it('shows what goes on, styled and wrapped, and leaves no trace of the status line', async () => {
    const terminal = run();
    const task = await taskOf(terminal);
    await terminal.sees(/turn 1 · .* · \d+ s$/);
    await terminal.sees(/a number, or your own answer/);
    terminal.type('2\r');
    expect(await terminal.ended).toBe(0);
    const lines = await terminal.lines();
    expect(terminal.raw()).toContain('Starting the Longhaul service');
    expect(lines.filter((line) => / · \d+ s$/.test(line) || line.includes('Starting'))).toEqual([]);
    expect(lines).toContain('I will look at a.txt, then change it, and I will say what I did in the end.');
    expect(lines).toContain('  let a_b = 1; // **x**');
    expect(lines.find((line) => line.includes('write_to_file'))).toMatch(/✓ write_to_file a\.txt {2}\+2 -0 {2}\d+/);
    expect(lines).toContain('    +two');
    expect(lines).toContain('? Which colour?');
    expect(lines).toContain('It is done.');

    const piped = await runCli(['log', task], env);
    expect(piped.out).not.toContain('\u001b');
    expect(piped.out).toContain('I will **look** at `a.txt`, then');
    expect(piped.out).toContain('+2 -0');
    expect(piped.out).not.toContain('+two');
    expect((await runCli(['log', task, '--full'], env)).out).toContain('    +two');
  });

  it('a viewer outlasts the worker, Temporal and the service, and the answer gets there', async () => {
    const terminal = run();
    await taskOf(terminal);
    await terminal.sees(/a number, or your own answer/);
    const { temporalPid, workerPid } = (await readService(home))!;
    process.kill(workerPid!, 'SIGKILL');
    process.kill(temporalPid!, 'SIGKILL');
    await runCli(['down'], env);
    await terminal.sees(/The service is not running \(stopped or killed\): the task goes on at the next/);
    expect((await runCli(['up'], env)).code).toBe(0);
    await terminal.sees(/Back again, after/);
    process.kill((await readService(home))!.temporalPid!, 'SIGKILL');
    terminal.type('1\r');
    expect(await terminal.ended).toBe(0);
    expect((await terminal.lines()).filter((line) => /^\s+at /.test(line))).toEqual([]);
  });

  it('an answer starts a service that was stopped', async () => {
    const terminal = run();
    await taskOf(terminal);
    await terminal.sees(/a number, or your own answer/);
    await runCli(['down'], env);
    await terminal.sees(/The service is not running/);
    terminal.type('blue\r');
    expect(await terminal.ended).toBe(0);
    expect(await readService(home)).toBeDefined();
  });

  it('says so when the journal is taken away', async () => {
    const terminal = run();
    await taskOf(terminal);
    await terminal.sees(/a number, or your own answer/);
    const { journal } = homePaths(home);
    renameSync(journal, `${journal}.away`);
    try {
      expect(await terminal.ended).toBe(1);
      expect(await terminal.lines()).toContainEqual(
        expect.stringMatching(/^error: The journal does not hold anything/),
      );
      await terminal.sees(/docs\/errors\/journal-lost\.md/).catch(() => undefined);
    } finally {
      renameSync(`${journal}.away`, journal);
    }
    await until(async () => (await runCli(['tasks'], env)).code === 0);
  });
});

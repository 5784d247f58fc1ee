import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Journal } from '../journal/journal.js';
import { runCommand } from '../runner/attach.js';
import { commandDir, readClaim, readSpec } from '../runner/layout.js';
import { endCommands } from '../runner/sweep.js';
import { executeCommand, runShellCommand } from './execute-command.js';
import { type RunContext, ToolError } from './tool.js';

// the tool never touches the journal
const journal = undefined as unknown as Journal;

function bench(more: Partial<RunContext> = {}) {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'longhaul-tool-')));
  const commandsDir = join(workspace, '.commands');
  const pieces: { offset: number; text: string }[] = [];
  const ctx: RunContext = {
    workspace,
    journal,
    commandsDir,
    task: 'task',
    turn: workspace.slice(-6),
    call: `${workspace.slice(-6)}:0`,
    execution: 1,
    policy: { yolo: true, approve: [] },
    approved: undefined,
    signal: new AbortController().signal,
    stopKind: () => 'cancel',
    partial: (piece) => pieces.push(piece),
    ...more,
  };
  onTestFinished(async () => {
    await endCommands({ commandsDir, match: () => true });
    rmSync(workspace, { recursive: true, force: true });
  });
  return { ctx, pieces, workspace, dir: commandDir(commandsDir, ctx.task, ctx.call) };
}

describe('before it runs', () => {
  test('needs approval whatever the model says of the risk, and shows the whole command', async () => {
    const { ctx } = bench();
    const command = `echo ${'x'.repeat(300)}\n  two`;
    for (const requires_approval of [undefined, true, false, 'false']) {
      const prepared = await executeCommand.prepare({ command, requires_approval }, ctx);
      expect(prepared).toMatchObject({ approval: { need: 'command' }, preview: command });
      expect(prepared.summary.length).toBeLessThanOrEqual(120);
    }
  });

  test('going to the workspace first is left away, going elsewhere is not', async () => {
    const { ctx, workspace } = bench();
    const preview = async (command: string) => (await executeCommand.prepare({ command }, ctx)).preview;
    expect(await preview(`cd ${workspace} && ls`)).toBe('ls');
    expect(await preview(`cd "${workspace}/" && ls`)).toBe(`cd "${workspace}/" && ls`);
    expect(await preview(`cd '${workspace}' && ls && cd x`)).toBe('ls && cd x');
    expect(await preview(`cd ${workspace}-other && ls`)).toBe(`cd ${workspace}-other && ls`);
    expect(await preview(`cd ${workspace}; ls`)).toBe(`cd ${workspace}; ls`);
  });

  test.each([
    { command: ' \n' },
    { command: 'a\0b' },
    { command: 'ls', timeout: 'soon' },
    { command: 'ls', timeout: -1 },
  ])('a mistake of the model: %j', async (args) => {
    const failure = await executeCommand.prepare(args, bench().ctx).catch((err: unknown) => err);
    expect(failure).toBeInstanceOf(ToolError);
    expect(failure).toMatchObject({ mistake: true });
  });
});

describe('what the model is told', () => {
  test.each([
    [
      'echo hi',
      { status: 'done', text: 'The command finished with exit code 0.\nOutput:\nhi', excerpt: 'exit code 0 · hi' },
    ],
    [
      'true',
      { status: 'done', text: 'The command finished with exit code 0.\nIt printed nothing.', excerpt: 'exit code 0' },
    ],
    ['echo no >&2; exit 3', { status: 'done', text: 'The command failed with exit code 3.\nOutput:\nno' }],
    ['kill -9 $$', { status: 'done', text: 'The command was killed by SIGKILL.\nIt printed nothing.' }],
    ['bash -c "kill -9 \\$\\$"; exit $?', { status: 'done', excerpt: expect.stringMatching(/^exit code 137/) }],
  ])('%s', async (command, expected) => {
    const outcome = await executeCommand.run({ command }, bench().ctx);
    expect(outcome).toMatchObject(expected);
    expect(outcome.mistake).toBeUndefined();
  });

  test('a timeout, with the output so far', async () => {
    const outcome = await executeCommand.run({ command: 'echo so far; sleep 600', timeout: '0.5' }, bench().ctx);
    expect(outcome).toMatchObject({ status: 'done', text: expect.stringMatching(/timed out after 0\.5 s.*so far$/s) });
  });

  test('processes left in the background', async () => {
    const outcome = await executeCommand.run({ command: 'sleep 600 >/dev/null & echo up' }, bench().ctx);
    expect(outcome.text).toContain('A process of this command still runs in the background');
  });

  test('an interruption', async () => {
    const stop = new AbortController();
    const { ctx } = bench({ signal: stop.signal, partial: () => stop.abort() });
    const outcome = await executeCommand.run({ command: 'echo up; sleep 600' }, ctx);
    expect(outcome).toMatchObject({ status: 'interrupted', text: expect.stringContaining('up') });
  });

  test('an unknown outcome, with the page about it', async () => {
    const { ctx, dir } = bench({ partial: () => process.kill(readClaim(dir).claim?.runner.pid ?? 0, 'SIGKILL') });
    const outcome = await executeCommand.run({ command: 'echo up; sleep 600' }, ctx);
    expect(outcome).toMatchObject({ status: 'unknown', slug: 'command-unknown-outcome' });
    expect(outcome.text).toMatch(/unknown.*not run again.*up$/s);
  });

  test('binary output as valid text', async () => {
    const outcome = await executeCommand.run(
      { command: 'head -c 4096 /dev/urandom; printf "\\377\\376\\000"' },
      bench().ctx,
    );
    expect(JSON.parse(JSON.stringify(outcome.text))).toBe(outcome.text);
    expect(outcome.text).not.toMatch(/\p{Cs}/u);
    expect(outcome.text).not.toContain('\0');
  });
});

test('live pieces join to the output, and repeat when another execution attaches', async () => {
  const { ctx, pieces } = bench();
  const command = 'for i in 1 2 3 4 5; do echo "é😀 $i"; sleep 0.06; done';
  await executeCommand.run({ command }, ctx);
  const joined = (list: typeof pieces) => {
    let text = '';
    for (const piece of list) {
      expect(piece.offset).toBe(text.length);
      text += piece.text;
    }
    return text;
  };
  expect(joined(pieces)).toBe('é😀 1\né😀 2\né😀 3\né😀 4\né😀 5\n');
  expect(pieces.length).toBeGreaterThan(1);
  const again: typeof pieces = [];
  await executeCommand.run({ command }, { ...ctx, execution: 2, partial: (piece) => again.push(piece) });
  expect(joined(again)).toBe(joined(pieces));
});

test('live output is bounded, and says so', async () => {
  const { ctx, pieces } = bench();
  const outcome = await executeCommand.run({ command: 'yes | head -c 3000000' }, ctx);
  const text = pieces.map((piece) => piece.text).join('');
  expect(text.length).toBeLessThan(270_000);
  expect(text).toMatch(/more output is not shown live/);
  expect(outcome.text).toContain('[... 1,499,500 lines left out ...]');
});

test('the time limit follows the policy, secrets of the profile stay away', async () => {
  const { ctx, dir } = bench({ secretVariables: ['ACME_KEY'], policy: { yolo: false, approve: [] } });
  await executeCommand.run({ command: 'true' }, ctx);
  expect(readSpec(dir)).toMatchObject({ timeoutMs: 600_000, scrub: ['ACME_KEY'] });
});

test('another tool can use the same way', async () => {
  const { ctx, dir } = bench();
  expect(await runShellCommand(ctx, 'echo shown', { timeoutMs: null })).toMatchObject({ status: 'done' });
  const spec = readSpec(dir);
  expect(spec && (await runCommand({ dir, spec })).head.toString()).toBe('shown\n');
});

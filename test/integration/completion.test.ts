import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openJournal } from '../../src/journal/open.js';
import { openTerminal, type TestTerminal } from '../support/terminal.js';
import { COMMAND } from '../support/world.js';

const has = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0;
const CLEAR_LINE = '\u0015';
const title = 'Say "hi" & $(touch made) `touch made`';

let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-completion-'));
  for (const name of ['bin', 'home', 'work/one dir', 'work/two']) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'work', 'plan.md'), '');
  symlinkSync(COMMAND, join(folder, 'bin', 'longhaul'));
  env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: join(folder, 'home'),
    LONGHAUL_HOME: join(folder, 'longhaul'),
    TERM: 'xterm',
    LC_ALL: 'C.UTF-8',
  };
  const journal = await openJournal({ home: join(folder, 'longhaul') });
  for (const task of ['abc1', 'xyz2']) {
    const about = `${task}: ${title}`;
    await journal.createTask({ task, workspace: `/w/${task}`, model: 'm', title: about, input: '{}' });
    await new Promise((done) => setTimeout(done, 2));
  }
  await journal.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const work = () => join(folder, 'work');

function inTerminal(command: string[], prepare: string) {
  let terminal: TestTerminal;
  beforeAll(async () => {
    terminal = openTerminal([], { command, env: { ...env, PS1: '> ' }, cwd: work(), columns: 120 });
    await terminal.answers(`${prepare}; echo "rea""dy"\n`, /ready/);
  });
  afterAll(async () => {
    terminal.type(`${CLEAR_LINE}exit\n`);
    await terminal.ended;
  });
  return (keys: string, wanted: RegExp): Promise<string> => terminal.answers(`${CLEAR_LINE}longhaul ${keys}`, wanted);
}

describe('bash', () => {
  const typed = inTerminal(['bash', '--norc', '--noprofile', '-i'], 'source <(longhaul completion bash)');

  it('completes commands, flags and their values', async () => {
    await typed('att\t', /longhaul attach $/);
    await typed('run --prom\t', /longhaul run --prompt-file $/);
    await typed('run --on-ask w\t', /--on-ask wait $/);
    await typed('run --on-ask=w\t', /--on-ask=wait $/);
    await typed('run --model claude-opus-4-8:\t', /--model claude-opus-4-8:1m $/);
  });

  it('lists tasks newest first with their titles, which do nothing, and completes one', async () => {
    const shown = await typed('show \t\t', /xyz2 .*\n.*abc1 .*\n/);
    expect(shown).toContain(`(starting · xyz2: ${title})`);
    await typed('show x\t', /show xyz2 $/);
    expect(spawnSync('ls', { cwd: work(), encoding: 'utf8' }).stdout).not.toContain('made');
  });

  it('completes folders and files', async () => {
    await typed('run --workspace o\t', /--workspace one\\ dir\/$/);
    await typed('run --workspace=t\t', /--workspace=two\/$/);
    await typed('run --prompt-file p\t', /--prompt-file plan\.md $/);
  });
});

describe.skipIf(!has('zsh'))('zsh', () => {
  const prepare = 'unsetopt beep; autoload -U compinit; compinit -u -D; source <(longhaul completion zsh)';
  const typed = inTerminal(['zsh', '-f', '-i'], prepare);

  it('completes commands, flags and their values', async () => {
    await typed('att\t', /longhaul attach $/);
    await typed('run --on-ask w\t', /--on-ask wait $/);
    await typed('run --on-ask=w\t', /--on-ask=wait $/);
    await typed('run --model claude-opus-4-8:\t', /--model claude-opus-4-8:1m $/);
  });

  it('lists tasks newest first with their titles, which do nothing, and completes one', async () => {
    const shown = await typed('show \t', /xyz2 .*\n.*abc1 /);
    expect(shown).toContain(`starting · xyz2: ${title}`);
    await typed('show x\t', /show xyz2 $/);
    expect(spawnSync('ls', { cwd: work(), encoding: 'utf8' }).stdout).not.toContain('made');
  });

  it('completes folders and files', async () => {
    await typed('run --workspace o\t', /--workspace one\\ dir\/$/);
    await typed('run --workspace=t\t', /--workspace=two\/$/);
    await typed('run --prompt-file p\t', /--prompt-file plan\.md $/);
  });
});

describe.skipIf(!has('fish'))('fish', () => {
  const offered = (line: string) =>
    execFileSync('fish', ['--no-config', '-c', 'longhaul completion fish | source; complete -C "$argv[1]"', line], {
      env,
      cwd: work(),
      encoding: 'utf8',
    })
      .trimEnd()
      .split('\n');

  it('completes commands, flags and their values', () => {
    expect(offered('longhaul att')).toEqual(['attach\tshow a task and follow it']);
    expect(offered('longhaul run --on-ask w')).toEqual(['wait']);
    expect(offered('longhaul run --on-ask=w')).toEqual(['--on-ask=wait']);
    expect(offered('longhaul run --model claude-opus-4-8:')).toEqual(['claude-opus-4-8:1m']);
  });

  it('lists tasks newest first with their titles, which do nothing', () => {
    const about = (task: string) => `starting · ${task}: ${title}`;
    expect(offered('longhaul show ')).toEqual([`xyz2\t${about('xyz2')}`, `abc1\t${about('abc1')}`]);
    expect(spawnSync('ls', { cwd: work(), encoding: 'utf8' }).stdout).not.toContain('made');
  });

  it('completes folders and files', () => {
    expect(offered('longhaul run --workspace o')).toEqual(['one dir/']);
    expect(offered('longhaul run --workspace=t')).toEqual(['--workspace=two/']);
    expect(offered('longhaul run --prompt-file p')).toEqual(['plan.md']);
  });
});

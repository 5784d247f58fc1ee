import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { said, TASK, type TestHome, testHome, testIo } from '../../../test/support/cli.js';
import { main } from '../main.js';
import { buildProgram } from '../program.js';
import { joinPieces, shownInBash } from './bash.js';
import { complete } from './complete.js';

let home: TestHome;
beforeEach(async () => {
  home = await testHome();
});
afterEach(() => home.remove());

/** What a shell is told: the first line, and the values behind it. */
async function asked(shell: 'bash' | 'zsh' | 'fish', words: string[], more: NodeJS.ProcessEnv = {}) {
  const io = testIo({ cwd: home.home, env: { LONGHAUL_HOME: home.home, ...more } });
  expect(await main(['__complete', shell, '--', ...words], io)).toBe(0);
  const [head = '', ...lines] = io.text().replace(/\n$/, '').split('\n');
  return { head, lines, values: lines.map((line) => line.split('\t')[0]) };
}

const offered = async (...words: string[]) => (await asked('fish', words)).values;

describe('commands and flags', () => {
  it('are those of the program, hidden ones left out', async () => {
    const io = testIo({ env: { LONGHAUL_HOME: home.home } });
    const program = buildProgram(io, () => undefined);
    const visible = program.createHelp().visibleCommands(program);
    expect(await offered('')).toEqual(visible.map((one) => one.name()));
    expect(await offered('')).not.toContain('__complete');
    for (const command of program.commands.filter((one) => visible.includes(one) && one.commands.length === 0)) {
      const flags = command.createHelp().visibleOptions(command);
      expect(await offered(command.name(), '--')).toEqual(flags.map(({ long }) => long));
    }
  });

  it('begin with what has been typed, and a flag that was given is not offered again', async () => {
    expect(await offered('at')).toEqual(['attach']);
    expect(await offered('help', 'at')).toEqual(['attach']);
    expect(await offered('run', '--max-t')).toEqual(['--max-turns', '--max-tokens', '--max-time']);
    expect(await offered('run', '--max-turns', '3', '--max-t')).toEqual(['--max-tokens', '--max-time']);
    expect(await offered('run', '-w', '/', '--work')).toEqual([]);
    expect(await offered('run', '--approve', 'edit', '--app')).toEqual(['--approve']);
    expect(await offered('up', '')).toEqual(['--json', '--foreground', '--help']);
  });

  it('are not offered behind --, behind a command that is none, or as the value of a flag', async () => {
    expect((await asked('zsh', ['run', '--', '--'])).head).toBe('nothing\t');
    expect(await asked('zsh', ['frobnicate', ''])).toEqual({ head: 'nothing\t', lines: [], values: [] });
    expect(await offered('run', '--max-turns', '')).toEqual([]);
  });

  it('of a program that is another one come from that one', async () => {
    const program = new Command('other').addHelpCommand(false);
    const group = program.command('group').description('a group');
    group
      .command('one')
      .addOption(new Option('--colour <name>').choices(['red', 'blue']))
      .argument('<file>');
    group.command('two').argument('<name>');
    const names = async (...words: string[]) => {
      const found = await complete(program, words, ({ command, name }) => [{ value: `${command}/${name}`, about: '' }]);
      return found.kind === 'values' ? found.candidates.map(({ value }) => value) : found.kind;
    };
    expect(await names('')).toEqual(['group']);
    expect(await names('group', '')).toEqual(['one', 'two', 'help']);
    expect(await names('group', 'one', '--colour', '')).toEqual(['red', 'blue']);
    expect(await names('group', 'one', '--colour=b')).toEqual(['--colour=blue']);
    expect(await names('group', 'one', '')).toBe('files');
    expect(await names('group', 'two', '')).toEqual(['group two/name']);
  });
});

describe('values', () => {
  it('are the words that a flag or an argument takes', async () => {
    expect(await offered('run', '--on-ask', '')).toEqual(['wait', 'exit', 'default']);
    expect(await offered('attach', TASK, '--on-ask=d')).toEqual(['--on-ask=default']);
    expect(await offered('worker', '--role', 'h')).toEqual(['host']);
    expect(await offered('tasks', '--status', 'c')).toEqual(['completed', 'cancelled']);
    expect(await offered('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await offered('run', '--approve', 'read,e')).toEqual(['read,edit', 'read,edit-outside']);
    expect(await offered('run', '--approve', 'edit,edit')).toEqual(['edit,edit-outside']);
    expect(await offered('run', '--approve', 'n')).toEqual(['none']);
    expect(await offered('run', '--approve', 'edit,n')).toEqual([]);
    expect(await offered('run', '--approve', 'none,r')).toEqual([]);
    expect(await offered('run', '--model', 'claude-sonnet-5')).toEqual(['claude-sonnet-5', 'claude-sonnet-5:1m']);
  });

  it('are folders and files where a value is one', async () => {
    expect((await asked('zsh', ['run', '--workspace', 'x'])).head).toBe('folders\t');
    expect((await asked('zsh', ['run', '--workspace=x'])).head).toBe('folders\t--workspace=');
    expect((await asked('zsh', ['run', '--prompt-file', ''])).head).toBe('files\t');
    expect((await asked('zsh', ['send', TASK, 'look', '--image', 'a.png', '--image', ''])).head).toBe('files\t');
    expect(await offered('run', '--image', 'a.png', '--im')).toEqual(['--image']);
  });

  it('are named profiles, not those of shells', async () => {
    const folder = join(home.home, 'profiles');
    await mkdir(folder);
    for (const name of ['work.json', 'p-0123456789ab.json', '.p-x.tmp']) await writeFile(join(folder, name), '{}');
    const program = new Command().addHelpCommand(false);
    program.command('run').option('--profile <name>');
    const { valuesOf } = await import('./values.js');
    const found = await complete(program, ['run', '--profile', ''], (wanted) => valuesOf(wanted, home.home));
    expect(found.candidates.map(({ value }) => value)).toEqual(['work']);
  });
});

describe('tasks', () => {
  beforeEach(async () => {
    await home.log(said.status('waiting'), said.ask('old', 'followup'), said.answered('old'), said.ask('a1', 'tool'));
    for (const [task, title] of [
      ['over-1', 'Line\n\u001b[2Jtwo\tthree'],
      ['other-2', 'Last'],
    ] as const) {
      await new Promise((done) => setTimeout(done, 2));
      await home.journal.createTask({ task, workspace: `/w/${task}`, model: 'm', title, input: '{}' });
    }
    await home.journal.append('over-1', [{ event: said.completed('ok') }]);
  });

  it('are offered newest first with status and title, safe for a terminal', async () => {
    const { lines } = await asked('fish', ['show', '']);
    expect(lines).toEqual([
      'other-2\tstarting · Last',
      'over-1\tcompleted · Line ␛[2Jtwo three',
      `${TASK}\twaiting · Fix it`,
    ]);
    expect(await offered('attach', 'o')).toEqual(['other-2', 'over-1']);
  });

  it('are those that fit the command', async () => {
    expect(await offered('abort', '')).toEqual(['other-2', TASK]);
    expect(await offered('answer', '')).toEqual([TASK]);
    expect(await offered('send', '')).toHaveLength(3);
  });

  it('have their open asks behind answer, and then what answers one', async () => {
    expect((await asked('fish', ['answer', 'task', ''])).lines).toEqual(['a1\tQuestion a1?', 'yes\t', 'no\t']);
    expect(await offered('answer', TASK, 'a1', '')).toEqual(['yes', 'no']);
    expect(await offered('answer', TASK, 'a1', 'yes', '')).toContain('--text');
  });

  it('are none where no journal can be read, and none is made', async () => {
    const empty = join(home.home, 'empty');
    await mkdir(empty);
    expect((await asked('fish', ['abort', 'x'], { LONGHAUL_HOME: empty })).head).toBe('nothing\t');
    expect(await readdir(empty)).toEqual([]);
    await writeFile(join(empty, 'journal.db'), 'not a database, '.repeat(1000));
    expect((await asked('fish', ['abort', 'x'], { LONGHAUL_HOME: empty })).head).toBe('nothing\t');
  });

  it('are offered to the commands of a task, too, which cannot do more with them', async () => {
    const { values } = await asked('fish', ['abort', ''], { LONGHAUL_CALL: 'c', LONGHAUL_TASK: TASK });
    expect(values).toHaveLength(2);
  });
});

describe('bash', () => {
  it('gets what follows the piece that it completes', async () => {
    expect((await asked('bash', ['run', '--on-ask', '=', 'w'])).lines).toEqual(['wait']);
    expect((await asked('bash', ['run', '--on-ask', '='])).lines).toEqual(['wait', 'exit', 'default']);
    expect((await asked('bash', ['run', '--model', 'claude-sonnet-5', ':'])).lines).toEqual(['1m']);
    expect((await asked('bash', ['run', '--model', 'claude-sonnet-5', ':', '1'])).lines).toEqual(['1m']);
    expect(joinPieces(['a', 'b'])).toEqual({ whole: ['a', 'b'], typed: 0 });
    expect(joinPieces(['x', '--a', '=', 'b'])).toEqual({ whole: ['x', '--a=b'], typed: 4 });
  });

  it('gets descriptions only where it does not insert them', () => {
    const two = [
      { value: 'a1', about: 'first' },
      { value: 'b22', about: 'a long description' },
    ];
    const shown = (candidates: typeof two, type: number, columns = 80) => shownInBash(candidates, { type, columns });
    expect(shown(two, 63)).toEqual(['a1   (first)', 'b22  (a long description)']);
    expect(shown(two.slice(0, 1), 63)).toEqual(['a1']);
    expect(shown(two, 37)).toEqual(['a1', 'b22']);
    expect(shown(two, 63, 20)).toEqual(['a1   (first)', 'b22  (a long descr…)']);
    expect(shown(two, 63, 12)).toEqual(['a1', 'b22']);
  });
});

it('the script calls this command line from any folder', async () => {
  const script = async (command: string) => {
    const io = testIo({ command, env: { LONGHAUL_HOME: home.home } });
    expect(await main(['completion', 'bash', '--json'], io)).toBe(0);
    return String(io.lines()[0]?.script);
  };
  expect(await script('longhaul')).toContain(' longhaul __complete bash ');
  expect(await script('node bin/longhaul.js')).toMatch(/ node '?\/.*\/bin\/longhaul\.js'? __complete bash /);
});

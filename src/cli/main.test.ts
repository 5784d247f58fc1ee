import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { said, TASK, type TestHome, testHome, testIo, USAGE } from '../../test/support/cli.js';
import { packageRoot } from '../service/package.js';
import type { Io } from './io.js';
import { main } from './main.js';
import { displayWidth } from './text.js';

let home: TestHome;
beforeEach(async () => {
  home = await testHome();
});
afterEach(() => home.remove());

async function longhaul(argv: string[], more: Partial<Io> = {}) {
  const io = testIo({ cwd: home.home, ...more, env: { LONGHAUL_HOME: home.home, ...more.env } });
  const code = await main(argv, io);
  return { code, out: io.text(), err: io.errors(), lines: io.lines };
}

it.each([['answer', TASK, 'yes'], ['send', TASK, 'go on'], ['abort', TASK], ['run', 'Do more.', '--yolo'], ['down']])(
  '%s is refused to the commands of a task',
  async (...argv) => {
    const { code, err } = await longhaul(argv, { env: { LONGHAUL_CALL: 'turn:0', LONGHAUL_TASK: TASK } });
    expect(code).toBe(1);
    expect(err).toMatch(/^page: .*docs\/errors\/inside-task\.md$/m);
    expect(await home.journal.readEvents(TASK, 0)).toEqual([]);
  },
);

/** A terminal's end of so many columns. */
const tty = (columns: number) => Object.assign(new PassThrough(), { isTTY: true, columns });

describe('wrong usage', () => {
  const cases: [string[], string][] = [
    [['run', 'x', '--max-cash', '5'], '--max-cash'],
    [['run', 'x', '--max-cost', 'much'], 'USD'],
    [['run', 'x', '--soft-limit', '100'], 'percentage'],
    [['run', 'x', '--worktree'], '--worktree'],
    [['run', 'x', '--on-ask', 'never'], 'wait, exit, default'],
    [['run', 'x', '--max-time', '10'], '90s'],
    [['run', 'x', '--approve', 'everything'], 'everything'],
    [['run', 'x', 'y'], 'Too many arguments'],
    [['run', 'x', '--prompt-file', 'y'], 'not both'],
    [['run', '--prompt-file', 'missing.txt'], 'missing.txt'],
    [['tasks', '--status', 'done'], 'done'],
    [['attach'], 'task'],
    [['show', ' '], 'The task id is empty'],
    [['answer', TASK], 'no answer'],
    [['completion', 'tcsh'], 'bash, zsh, fish'],
    [['frobnicate'], 'frobnicate'],
  ];
  it.each(cases)('%j is refused with exit code 2', async (argv, part) => {
    const { code, out, err } = await longhaul(argv);
    expect(code).toBe(2);
    expect(err).toContain(part);
    expect(err).toMatch(/^next: {2}\S/m);
    expect(err).toMatch(/^page: .*docs\/errors\/bad-flag\.md$/m);
    expect(out).toBe('');
    expect(await home.journal.listTasks()).toHaveLength(1);
  });

  it('without a command is answered with the help alone', async () => {
    for (const [argv, part] of [
      [[], 'Usage: longhaul '],
      [['profile'], 'Usage: longhaul profile '],
    ] as const) {
      const { code, err } = await longhaul([...argv]);
      expect(code).toBe(2);
      expect(err).toContain(part);
      expect(err).not.toContain('error:');
    }
  });

  it('names the help of the command that was called', async () => {
    const next = async (...argv: string[]) => /^next: +(.*)$/m.exec((await longhaul(argv)).err)?.[1];
    expect(await next('run', 'x', '--sandbox')).toContain('`longhaul run --help`');
    expect(await next('tasks', '--limit', 'x')).toContain('`longhaul tasks --help`');
    expect(await next('profile', 'frobnicate')).toContain('`longhaul profile --help` lists its commands');
    expect(await next('profile', 'save')).toContain('`longhaul profile save --help`');
    expect(await next('frobnicate')).toContain('`longhaul --help`');
  });

  it('an answer that lacks the id of its ask is refused with the command that has it', async () => {
    await home.log(said.status('waiting'), said.ask('a1', 'command'));
    const next = async (...words: string[]) => {
      const { code, err } = await longhaul(['answer', TASK, ...words]);
      expect(code).toBe(1);
      expect(err).toContain('docs/errors/ask-refused.md');
      return /^next: +(.*)$/m.exec(err)?.[1];
    };
    expect(await next('no')).toBe(`\`longhaul answer ${TASK} a1 no\``);
    expect(await next('no', '--text', 'use yarn')).toBe(`\`longhaul answer ${TASK} a1 no --text 'use yarn'\``);
    expect(await next('{"answer":"no"}')).toBe(`\`longhaul answer ${TASK} a1 no\``);
    await home.log(said.ask('b2', 'followup'));
    expect(await next('no')).toBe(`\`longhaul answer ${TASK} a1 no\` or \`longhaul answer ${TASK} b2 no\``);
  });

  it('is a line of JSON too, when JSON was asked for', async () => {
    const { code, lines, err } = await longhaul(['run', 'x', '--json', '--sandbox']);
    expect(code).toBe(2);
    expect(lines()).toEqual([
      expect.objectContaining({ v: 1, type: 'error', slug: 'bad-flag', page: 'docs/errors/bad-flag.md' }),
    ]);
    expect(err).toContain('--sandbox');
  });

  it('an empty prompt is named as such, from wherever it comes', async () => {
    await writeFile(join(home.home, 'empty.txt'), ' \n');
    for (const argv of [['run'], ['run', '  '], ['send', TASK, ' '], ['run', '--prompt-file', 'empty.txt']]) {
      const { code, err } = await longhaul(argv);
      expect(code).toBe(2);
      expect(err).toContain('docs/errors/prompt-empty.md');
      expect(err).toMatch(/^next: {2}\S/m);
    }
  });

  it('suggests the value that was probably meant', async () => {
    expect((await longhaul(['tasks', '--status', 'wating'])).err).toContain('Did you mean waiting?');
    expect((await longhaul(['run', 'x', '--approve', 'edits'])).err).toContain('Did you mean edit?');
    expect((await longhaul(['run', 'x', '--on-ask', 'whatever'])).err).not.toContain('Did you mean');
  });

  it('is wrapped and coloured for a terminal only', async () => {
    const stderr = () => Object.assign(new PassThrough(), { isTTY: true, columns: 60 });
    const broken = stderr();
    await longhaul(['tasks', '--status', 'wating'], { stderr: broken });
    const lines = String(broken.read()).trimEnd().split('\n');
    expect(lines[0]).toContain('\u001b[31merror:\u001b[0m --status takes');
    expect(lines.slice(0, -1).every((line) => displayWidth(line) <= 60)).toBe(true);
    expect(lines[1]).toMatch(/^ {7}\S/);
    const plain = stderr();
    await longhaul(['attach'], { stderr: plain, env: { NO_COLOR: '1' } });
    expect(String(plain.read())).not.toContain('\u001b');
  });

  it('suggests what is near, and never a flag that allows everything', async () => {
    const suggested = async (...argv: string[]) => /Did you mean (\S+)\?/.exec((await longhaul(argv)).err)?.[1];
    expect(await suggested('run', 'x', '--modle', 'm')).toBe('--model');
    expect(await suggested('atach', TASK)).toBe('attach');
    for (const flag of ['--foo', '--yoll', '--yol', '--yoloo'])
      expect(await suggested('run', 'x', flag)).toBeUndefined();
    expect(await suggested('frobnicate')).toBeUndefined();
  });

  it('names the command as it was called, and a page that can be opened from here', async () => {
    const { err } = await longhaul(['attach'], { command: 'node bin/lh.js', cwd: packageRoot });
    expect(err).toContain('`node bin/lh.js attach --help`');
    expect(err).toContain('page:  docs/errors/bad-flag.md');
    for (const cwd of [home.home, join(packageRoot, 'docs', 'errors', 'x'), join(packageRoot, 'src')]) {
      const page = /^page: +(.*)$/m.exec((await longhaul(['attach'], { cwd })).err)?.[1] ?? '';
      expect(page).toBe(join(packageRoot, 'docs/errors/bad-flag.md'));
      expect(existsSync(page)).toBe(true);
    }
  });

  it('a prompt file that is not text is refused', async () => {
    await writeFile(join(home.home, 'image.bin'), Buffer.from([0xff, 0xfe, 0x00, 0x80]));
    expect((await longhaul(['run', '--prompt-file', 'image.bin'])).err).toContain('not UTF-8');
  });
});

describe('tasks', () => {
  it('shows an open task without a worker as such, and a running one as running', async () => {
    await home.log(said.status('running'));
    expect((await longhaul(['tasks'])).out).toMatch(new RegExp(`${TASK} +no_worker .*Fix it`));
    await home.journal.renewLease({ host: 'g', queue: 'longhaul', pid: 1, server: 'other:7233/default' }, 60_000);
    expect((await longhaul(['show', TASK])).out).toMatch(/^status: +no_worker \(.*\)$/m);
    await home.journal.renewLease({ host: 'h', queue: 'longhaul', pid: 1 }, 60_000);
    expect((await longhaul(['tasks'])).out).toMatch(new RegExp(`${TASK} +running .*Fix it`));
    expect((await longhaul(['tasks', '--status', 'running'])).out).toContain(TASK);
    expect((await longhaul(['tasks', '--status', 'no_worker'])).out).not.toContain(TASK);
  });

  it.each([60, 80, 120])('fits %i columns, whatever the titles are written in', async (width) => {
    const title = '日本語のタイトル 👨‍👩‍👧 '.repeat(20);
    const row = { task: 'task-with-12', workspace: '/w2', model: 'm', title, input: '{}' };
    await home.journal.createTask(row);
    await home.log(said.status('running'));
    for (const argv of [['tasks'], ['show', 'task-with-12']]) {
      const { out } = await longhaul(argv, { stdout: tty(width) });
      expect(Math.max(...out.split('\n').map(displayWidth))).toBeLessThanOrEqual(width);
      expect(out).toContain('日本語のタ');
    }
  });

  it('is one object with --json', async () => {
    await home.log(said.completed('ok'));
    const { lines } = await longhaul(['tasks', '--json', '--status', 'completed']);
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toMatchObject({
      v: 1,
      type: 'tasks',
      tasks: [{ task: TASK, status: 'completed', turns: 2, cost: 0.0123 }],
    });
  });
});

describe('show', () => {
  it('gives the open asks with both ways to answer, and all of the detail', async () => {
    const detail = { text: Array.from({ length: 500 }, (_, i) => `+line ${i}`).join('\n') };
    await home.log(
      said.status('waiting'),
      said.ask('old', 'followup'),
      said.answered('old'),
      said.ask('a1', 'tool', { detail }),
    );
    const { out, code } = await longhaul(['show', 'task']);
    expect(code).toBe(0);
    expect(out).toContain('+line 499');
    expect(out).toContain(`longhaul answer ${TASK} a1 yes|no|"TEXT"`);
    expect(out).toContain('{"ask":"a1","answer":"yes"}');
    expect(out).toMatch(/^started: +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m);
    expect(out).not.toContain('Question old');
    const { lines } = await longhaul(['show', TASK, '--json']);
    expect(lines()[0]).toMatchObject({
      task: TASK,
      status: 'waiting',
      worker: false,
      outcome: null,
      asks: [{ id: 'a1', reply: '{"ask":"a1","answer":"yes"}' }],
    });
  });

  it('gives the result of a task that is over, and no ask', async () => {
    await home.log(said.ask('a1', 'tool'), said.completed('All done.'));
    const { out } = await longhaul(['show', TASK]);
    expect(out).toContain('completed');
    expect(out).toContain('All done.');
    expect(out).not.toContain('Question a1');
  });

  it('tells an unknown id from an ambiguous one', async () => {
    await home.journal.createTask({ task: 'task-0002', workspace: '/w', model: 'm', title: 't', input: '{}' });
    const [unknown, both] = [await longhaul(['show', 'nope']), await longhaul(['show', 'task'])];
    expect([unknown.code, both.code]).toEqual([1, 1]);
    expect(unknown.err).toContain('docs/errors/task-not-found.md');
    expect(both.err).toContain('docs/errors/task-ambiguous.md');
  });
});

describe('log', () => {
  it('prints the stored events from --from on, as JSON and for people', async () => {
    await home.log(said.request(), said.text('Hello'), said.completed('ok'));
    const { lines } = await longhaul(['log', TASK, '--json', '--from', '2']);
    expect(lines().map((line) => [line.seq, line.type])).toEqual([
      [2, 'say'],
      [3, 'closed'],
    ]);
    expect(lines()[1]).toMatchObject({ totals: { usage: USAGE } });
    expect((await longhaul(['log', TASK])).out).toContain('Hello\n');
  });

  it('follows an open task to its end, and says that nobody works on it', async () => {
    await home.log(said.request());
    const io = testIo({ env: { LONGHAUL_HOME: home.home } });
    const json = testIo({ env: { LONGHAUL_HOME: home.home } });
    const ends = [main(['log', TASK, '--follow'], io), main(['log', TASK, '--follow', '--json'], json)];
    for (const { text } of [io, json])
      await vi.waitFor(() => expect(text()).toContain('The service is not running'), 20_000);
    await home.log(said.text('Hello'), said.completed('ok'));
    expect(await Promise.all(ends)).toEqual([0, 0]);
    expect(io.text()).toContain('Hello\n');
    expect(io.text()).toContain('completed ·');
    expect(json.lines()).toContainEqual(expect.objectContaining({ type: 'status', task: TASK, status: 'no_worker' }));
  });
});

describe('what goes wrong', () => {
  it('ends with 5 when Temporal cannot be reached, which doctor says too', async () => {
    const env = { TEMPORAL_ADDRESS: '127.0.0.1:1', ANTHROPIC_API_KEY: 'k' };
    const [run, doctor] = await Promise.all([
      longhaul(['run', 'x'], { env }),
      longhaul(['doctor', '--json', '--offline'], { env }),
    ]);
    expect([run.code, doctor.code]).toEqual([5, 1]);
    expect(run.err).toContain('docs/errors/temporal-unreachable.md');
    const temporal = { address: '127.0.0.1:1', embedded: false, reachable: false };
    expect(doctor.lines()[0]).toMatchObject({
      temporal,
      problems: expect.arrayContaining([expect.stringMatching(/^Temporal server: 127\.0\.0\.1:1 cannot be reached/)]),
    });
  });

  it('reports what nobody caught as any error, without its stack', async () => {
    const ending = pathToFileURL(join(packageRoot, 'dist', 'cli', 'ending.js')).href;
    const io = pathToFileURL(join(packageRoot, 'dist', 'cli', 'io.js')).href;
    const program = `
      const [{ reportUncaught }, { processIo }] = await Promise.all([import('${ending}'), import('${io}')]);
      reportUncaught(processIo(), true);
      setTimeout(() => Promise.reject(new Error('boom')), 1);
      setInterval(() => {}, 1000);`;
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
    expect(child.status).toBe(1);
    expect(child.stderr).toMatch(/^error: Something unexpected went wrong: boom$/m);
    expect(child.stderr).toMatch(/^page: .*docs\/errors\/internal\.md$/m);
    expect(child.stderr).not.toMatch(/^ +at /m);
    expect(JSON.parse(child.stdout)).toMatchObject({ type: 'error', slug: 'internal' });
  });

  it('shows the stack of something unexpected only when debugging', async () => {
    const broken = () => ({
      stdin: new Readable({
        read() {
          this.destroy(new Error('no input'));
        },
      }),
    });
    const plain = await longhaul(['run', '--prompt-file', '-'], broken());
    expect(plain.code).toBe(1);
    expect(plain.err).toContain('docs/errors/internal.md');
    expect(plain.err).not.toMatch(/^ +at /m);
    const debug = await longhaul(['run', '--prompt-file', '-'], { ...broken(), env: { LONGHAUL_DEBUG: '1' } });
    expect(debug.err).toMatch(/^ +at /m);
  });
});

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandBench, processesOf, sizeOf, textOf, until } from '../../test/support/commands.js';
import { CommandDetached, runCommand } from './attach.js';
import { SEGMENT_BYTES } from './output.js';
import { endCommands } from './sweep.js';

async function run(command: string, more = {}) {
  const bench = commandBench();
  const end = await runCommand(bench.request(command, more));
  return { ...end, text: end.head.toString() };
}

describe('how a command ends', () => {
  test('exit codes, and both outputs in order', async () => {
    const end = await run('echo a; echo b >&2; echo c >/dev/stdout; echo d >/dev/stderr; exit 3');
    expect(end).toMatchObject({ end: 'exited', code: 3, text: 'a\nb\nc\nd\n', bytes: 8, lines: 4, living: 0 });
  });

  test('a signal', async () => {
    expect(await run('kill -SEGV $$')).toMatchObject({ end: 'signalled', signal: 'SIGSEGV' });
  });

  test.each([
    ['unbalanced quote', 'echo "a', 2],
    ['comment only', '# nothing', 0],
    ['heredoc', "cat <<'X'\n$HOME \"'`\nX", 0],
    ['unknown command', 'no-such-command-here', 127],
    ['longer than an argument may be', `: ${'x'.repeat(300_000)}\nexit 4`, 4],
  ])('%s', async (_, command, code) => {
    expect(await run(command)).toMatchObject({ end: 'exited', code });
  });

  test('heredocs are passed on as they are', async () => {
    expect((await run("cat <<'X'\n$HOME \"'` é\nX")).text).toBe('$HOME "\'` é\n');
  });

  test('a folder that is gone is no exit code', async () => {
    expect(await run('true', { cwd: '/no/such/folder' })).toMatchObject({ end: 'failed', code: null });
  });

  test('a timeout ends everything, also what ignores TERM or left the session', async () => {
    const bench = commandBench();
    const request = bench.request('trap "" TERM; sleep 600 & setsid sleep 601 & (env -i sleep 602) & sleep 603; wait', {
      timeoutMs: 300,
    });
    expect(await runCommand(request)).toMatchObject({ end: 'timed_out', living: 0 });
    expect(processesOf(request)).toEqual([]);
    const rest = execFileSync('ps', ['ax', '-o', 'args='], { encoding: 'utf8' });
    expect(rest.split('\n')).not.toContain('sleep 602');
  });

  test('a timeout shorter than the start', async () => {
    expect(await run('sleep 600', { timeoutMs: 1 })).toMatchObject({ end: 'timed_out' });
  });

  test('running it again tells how it ended', async () => {
    const bench = commandBench();
    const request = bench.request(`echo x >> ${bench.counter}; echo out; exit 5`);
    const first = await runCommand(request);
    const second = await runCommand(request);
    expect(second).toEqual(first);
    expect(textOf(bench.counter)).toBe('x\n');
  });

  test('a folder does not run two different commands', async () => {
    const bench = commandBench();
    const request = bench.request('echo one');
    await runCommand(request);
    const other = { ...request, spec: { ...request.spec, command: 'echo two' } };
    await expect(runCommand(other)).rejects.toMatchObject({ slug: 'internal' });
  });
});

describe('children in the background', () => {
  test.each([
    ['keeping the output open', '(while :; do echo tick; sleep 1; done) & sleep 0.2; echo done'],
    ['with output of their own', 'sleep 600 >/dev/null 2>&1 & echo done'],
  ])('%s: the call returns, they live until the task ends', async (_, command) => {
    const bench = commandBench();
    const request = bench.request(command);
    const end = await runCommand(request);
    expect(end).toMatchObject({ end: 'exited', code: 0 });
    expect(end.head.toString()).toContain('done');
    expect(end.living).toBeGreaterThan(0);
    expect(processesOf(request).length).toBeGreaterThan(0);
    await endCommands({ commandsDir: bench.commandsDir, match: ({ task }) => task === bench.task });
    expect(processesOf(request)).toEqual([]);
  });

  test('waited for, they fall under the timeout', async () => {
    const end = await run('(while :; do echo tick; sleep 1; done) & wait', { timeoutMs: 500 });
    expect(end).toMatchObject({ end: 'timed_out', living: 0 });
  });
});

describe('output', () => {
  test('without end: ended at the limit, little kept on disk', async () => {
    const bench = commandBench();
    const request = bench.request('yes', { maxOutputBytes: 8 << 20 });
    const end = await runCommand(request);
    expect(end).toMatchObject({ end: 'output_limit' });
    expect(end.bytes).toBeGreaterThan(8 << 20);
    expect(sizeOf(request.dir)).toBeLessThan(3 * SEGMENT_BYTES + 10_000);
    expect(end.head.length + end.gap + end.tail.length).toBe(end.bytes);
  });

  test('one line of 100 MB ends by itself, both ends kept', async () => {
    const end = await run("printf start; head -c 100000000 /dev/zero | tr '\\0' a; printf end");
    expect(end).toMatchObject({ end: 'exited', code: 0, bytes: 100_000_008, lines: 0 });
    expect(end.text.startsWith('startaaa')).toBe(true);
    expect(end.tail.toString().endsWith('aaaend')).toBe(true);
  });

  test('arrives while the command runs, from the first byte on, each once', async () => {
    const bench = commandBench();
    const request = bench.request('echo first; while [ ! -e go ]; do sleep 0.02; done; echo second');
    const seen: string[] = [];
    await runCommand({
      ...request,
      onOutput: (bytes) => {
        seen.push(bytes.toString());
        writeFileSync(join(bench.root, 'go'), '');
      },
    });
    expect(seen[0]).toBe('first\n');
    expect(seen.join('')).toBe('first\nsecond\n');
  });

  test('binary output is kept as it is', async () => {
    const end = await run("printf '\\377\\376\\000x'");
    expect([...end.head]).toEqual([0xff, 0xfe, 0, 0x78]);
  });
});

describe('nothing waits for a person', () => {
  test.each([
    'read x',
    'cat',
    'cat /dev/tty',
    'python3 -c "input()"',
    'less file.txt',
    'git init -q . && git add . && git -c user.name=a -c user.email=a@b commit',
    'git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm x && git rebase -i --root && git log',
    'git clone -q https://127.0.0.1:1/x.git',
    'ssh -o ConnectTimeout=2 nohost.invalid',
    'crontab -e',
    '$EDITOR file.txt',
  ])('%s', async (command) => {
    const bench = commandBench();
    const cwd = join(bench.root, 'work');
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'file.txt'), 'text\n'.repeat(500));
    const end = await runCommand(bench.request(command, { cwd, timeoutMs: 25_000 }));
    expect(end.end).toBe('exited');
  });
});

describe('stopping', () => {
  test('cancel ends the command and all that belongs to it', async () => {
    const bench = commandBench();
    const request = bench.request('sleep 600 & setsid sleep 601 & trap "" TERM; echo up; exec sleep 602');
    const stop = new AbortController();
    const end = await runCommand({
      ...request,
      signal: stop.signal,
      stopKind: () => 'cancel',
      onOutput: () => stop.abort(),
    });
    expect(end.end).toBe('cancelled');
    expect(end.head.toString()).toBe('up\n');
    expect(processesOf(request)).toEqual([]);
  });

  test('cancelled before it starts, it never runs', async () => {
    const bench = commandBench();
    const request = bench.request(`echo x >> ${bench.counter}`);
    const end = await runCommand({ ...request, signal: AbortSignal.abort(), stopKind: () => 'cancel' });
    expect(end.end).toBe('cancelled');
    expect((await runCommand(request)).end).toBe('cancelled');
    expect(existsSync(bench.counter)).toBe(false);
  });

  test('detach leaves the command running, and it can be attached to', async () => {
    const bench = commandBench();
    const request = bench.request(
      `echo x >> ${bench.counter}; echo one; while [ ! -e go ]; do sleep 0.02; done; echo two`,
    );
    const stop = new AbortController();
    const first = runCommand({
      ...request,
      signal: stop.signal,
      stopKind: () => 'detach',
      onOutput: () => stop.abort(),
    });
    await expect(first).rejects.toBeInstanceOf(CommandDetached);
    await until(() => processesOf(request).length > 0, 'the command to go on');
    writeFileSync(join(bench.root, 'go'), '');
    const seen: Buffer[] = [];
    const end = await runCommand({ ...request, onOutput: (bytes) => seen.push(bytes) });
    expect(end).toMatchObject({ end: 'exited', code: 0 });
    expect(Buffer.concat(seen).toString()).toBe('one\ntwo\n');
    expect(textOf(bench.counter)).toBe('x\n');
  });
});

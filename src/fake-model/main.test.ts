import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { postRaw } from './raw-client.js';

const MAIN = fileURLToPath(new URL('../../dist/fake-model/main.js', import.meta.url));
const REQUEST = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] };

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function launch(...args: string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  return child;
}

async function serve(...args: string[]) {
  const child = launch(...args);
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, url: (JSON.parse(line) as { url: string }).url };
  }
  throw new Error('it printed no line');
}

async function failure(...args: string[]) {
  const child = launch(...args);
  let stderr = '';
  child.stderr.on('data', (piece) => {
    stderr += String(piece);
  });
  const [code] = await once(child, 'close');
  return { code, stderr };
}

describe('the fake model as a process', () => {
  it('plays a script, takes its key, logs, and ends on SIGTERM', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'fake-model-'));
    await writeFile(join(dir, 'a.script'), 'say Hello\nfinish\n');
    const { child, url } = await serve('--script', join(dir, 'a.script'), '--key', 'k', '--log', join(dir, 'log'));
    expect((await postRaw(url, REQUEST)).status).toBe(401);
    expect((await postRaw(url, REQUEST, { headers: { 'x-api-key': 'k' } })).text).toContain('Hello');
    const listed = (await (await fetch(`${url}/fake/requests`)).json()) as unknown[];
    expect(listed).toMatchObject([{ verdict: { kind: 'refused', rules: ['key'] } }, { verdict: { kind: 'answered' } }]);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    const log = (await readFile(join(dir, 'log'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(log).toMatchObject([{ number: 1 }, { number: 2 }]);
  });

  it('makes any number of calls', async () => {
    const { url } = await serve('--calls', '1', '--call', 'execute_command {"command":"echo {{n}}"}');
    expect(JSON.parse((await postRaw(url, REQUEST)).text).content).toMatchObject([
      { name: 'execute_command', input: { command: 'echo 1' } },
    ]);
  });

  it.each([
    [[], 'Neither --script nor --calls'],
    [['--calls', 'many'], '--calls needs a whole number'],
    [['--calls', '1', '--port', '70000'], '--port needs a whole number'],
    [['--calls', '1', '--call', 'x {"a":}'], '--call: not JSON'],
    [['--script', '/nonexistent.script'], 'cannot be read'],
    [['--what'], '--what'],
  ])('refuses %j', async (args, reason) => {
    const { code, stderr } = await failure(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(reason);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

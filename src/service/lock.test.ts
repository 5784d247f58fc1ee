import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { acquireLock, lockHolder } from './lock.js';
import { packageRoot } from './package.js';
import { processRef } from './processes.js';

let folder: string;
let lock: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-lock-'));
  lock = join(folder, 'lock');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('is held by one at a time, and free after its release', () => {
  const held = acquireLock(lock);
  if ('heldBy' in held) throw new Error('a new lock was held');
  const self = processRef(process.pid);
  expect(lockHolder(lock)).toEqual(self);
  expect(acquireLock(lock)).toEqual({ heldBy: self });
  held.release();
  expect(lockHolder(lock)).toBeUndefined();
  expect('release' in acquireLock(lock)).toBe(true);
});

test('handed over, it is held as long as the other process lives', async () => {
  const held = acquireLock(lock);
  if ('heldBy' in held) throw new Error('a new lock was held');
  const child = spawn('sleep', ['60']);
  const ref = processRef(child.pid ?? 0);
  if (!ref) throw new Error('sleep did not start');
  held.handOver(ref);
  expect(acquireLock(lock)).toEqual({ heldBy: ref });
  child.kill('SIGKILL');
  await new Promise((done) => child.once('exit', done));
  expect('release' in acquireLock(lock)).toBe(true);
});

test('a pid that now belongs to another process does not hold it', () => {
  const held = acquireLock(lock);
  if ('heldBy' in held) throw new Error('a new lock was held');
  held.handOver({ pid: process.pid, start: 'an earlier life' });
  expect(lockHolder(lock)).toBeUndefined();
  expect('release' in acquireLock(lock)).toBe(true);
});

test('is never held by two of many processes that take it, release it and are killed with it', async () => {
  const library = pathToFileURL(join(packageRoot, 'dist', 'service', 'lock.js')).href;
  const script = `
    import { acquireLock } from ${JSON.stringify(library)};
    import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
    const [lock, inside, log, mode] = process.argv.slice(1);
    for (let rounds = 0; rounds < 15; ) {
      const held = acquireLock(lock);
      if ('heldBy' in held) { await new Promise((done) => setTimeout(done, 1 + Math.random() * 4)); continue; }
      rounds++;
      try { writeFileSync(inside, '', { flag: 'wx' }); } catch { appendFileSync(log, 'two inside\\n'); }
      await new Promise((done) => setTimeout(done, Math.random() * 3));
      rmSync(inside, { force: true });
      if (mode === 'killed' && rounds === 8) process.kill(process.pid, 'SIGKILL');
      held.release();
    }
    appendFileSync(log, 'done\\n');`;
  const [inside, log] = [join(folder, 'inside'), join(folder, 'log')];
  const ends = Array.from({ length: 6 }, (_, n) => {
    const args = ['--input-type=module', '-e', script, lock, inside, log, n % 2 === 0 ? 'killed' : 'ends'];
    const child = spawn(process.execPath, args, { stdio: 'inherit' });
    return new Promise<string>((done) => child.once('exit', (code, signal) => done(signal ?? String(code))));
  });
  expect(await Promise.all(ends)).toEqual(['SIGKILL', '0', 'SIGKILL', '0', 'SIGKILL', '0']);
  expect(readFileSync(log, 'utf8')).toBe('done\n'.repeat(3));
  expect(existsSync(inside)).toBe(false);
});

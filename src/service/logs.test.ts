import { spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rotateLog } from './logs.js';
import { processRef } from './processes.js';

let folder: string;
let log: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-logs-'));
  log = join(folder, 'worker.log');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const generation = (n: number) => readFileSync(`${log}.${n}`, 'utf8');

test('a log within its bounds, or none, is left alone', () => {
  expect(rotateLog(log, { maxBytes: 10 })).toBe(false);
  writeFileSync(log, '0123456789');
  expect(rotateLog(log, { maxBytes: 10 })).toBe(false);
  expect(readdirSync(folder)).toEqual(['worker.log']);
});

test('generations move on, and the oldest is dropped', () => {
  for (const text of ['first', 'second', 'third', 'fourth']) {
    writeFileSync(log, text);
    expect(rotateLog(log, { maxBytes: 4 })).toBe(true);
  }
  expect([1, 2, 3].map(generation)).toEqual(['fourth', 'third', 'second']);
  expect(readFileSync(log, 'utf8')).toBe('');
  expect(readdirSync(folder)).toHaveLength(4);
});

test('of a log that has outgrown several generations the newest part is kept', () => {
  writeFileSync(`${log}.1`, 'earlier');
  writeFileSync(log, Array.from({ length: 25 }, (_, n) => `${String(n).padStart(3, '0')}\n`).join(''));
  expect(rotateLog(log, { maxBytes: 20, generations: 3 })).toBe(true);
  expect(generation(3) + generation(2) + generation(1)).toBe(
    Array.from({ length: 15 }, (_, n) => `${String(n + 10).padStart(3, '0')}\n`).join(''),
  );
});

test('nothing that a child writes as fast as it can is lost, and the bounds hold', async () => {
  const [lines, maxBytes, generations] = [400_000, 400_000, 30];
  const script = `
    const { writeSync } = require('node:fs');
    for (let n = 0; n < ${lines}; n++) writeSync(1, n + ' ' + 'x'.repeat(n % 50) + '\\n');`;
  const out = openSync(log, 'a');
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', out, 'inherit'], detached: true });
  closeSync(out);
  const ended = new Promise((done) => child.once('exit', done));
  const writer = processRef(child.pid ?? 0);
  let [rotations, text, largest] = [0, '', 0];
  while (child.exitCode === null && child.signalCode === null) {
    if (rotateLog(log, { maxBytes, generations, writer })) {
      rotations++;
      // oldest first; one rotation may have made several
      for (let n = generations; n > 0; n--) {
        if (!existsSync(`${log}.${n}`)) continue;
        largest = Math.max(largest, generation(n).length);
        text += generation(n);
        rmSync(`${log}.${n}`);
      }
    }
    await sleep(1);
  }
  expect(await ended).toBe(0);
  const written = (text + readFileSync(log, 'utf8')).trimEnd().split('\n');
  expect(written).toHaveLength(lines);
  expect(written.findIndex((line, n) => line !== `${n} ${'x'.repeat(n % 50)}`)).toBe(-1);
  expect(rotations).toBeGreaterThan(3);
  // a copy lasts as long as the machine is busy, and the writer goes on until its end
  expect(largest).toBeLessThan((Buffer.byteLength(text) * 3) / 4);
});

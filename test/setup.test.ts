import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { countTests } from '../scripts/count.mjs';
import { root } from '../scripts/inputs.mjs';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-setup-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function report(value: unknown): string {
  const path = join(folder, 'report.json');
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
}

test('the count of a run has one failure at least when the run failed', () => {
  const passed = { status: 'passed', assertionResults: [{ status: 'passed' }] };
  const failed = { status: 'failed', assertionResults: [{ status: 'failed' }] };
  const unloadable = { status: 'failed', assertionResults: [] };
  const counts = (numPassedTests: number, numFailedTests: number, ...testResults: object[]) =>
    report({ numPassedTests, numFailedTests, testResults });
  expect(countTests(counts(1, 0, passed), 0)).toEqual({ passed: 1, failed: 0 });
  expect(countTests(counts(1, 1, passed, failed), 1)).toEqual({ passed: 1, failed: 1 });
  expect(countTests(counts(1, 0, passed, unloadable), 1)).toEqual({ passed: 1, failed: 1 });
  expect(countTests(counts(1, 0, passed), 1)).toEqual({ passed: 1, failed: 1 });
  expect(countTests(report('{"numPass'), 1)).toEqual({ passed: 0, failed: 1 });
  expect(countTests(join(folder, 'absent'), 137)).toEqual({ passed: 0, failed: 1 });
});

test('an unknown command is wrong usage', async () => {
  const child = spawn(process.execPath, [join(root, 'scripts', 'bootstrap.mjs'), 'unheard-of'], { stdio: 'pipe' });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const code = await new Promise((done) => child.once('close', done));
  expect(code).toBe(2);
  expect(output).toContain('usage:');
});

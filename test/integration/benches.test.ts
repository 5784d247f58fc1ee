import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Report } from '../../bench/support/report.js';
import { ROOT } from '../support/world.js';

const run = promisify(execFile);

/** Runs benches as `npm run bench` does, once everything is set up. */
async function bench(...args: string[]) {
  const program = [join(ROOT, 'scripts', 'run-typescript.mjs'), join(ROOT, 'bench', 'main.ts')];
  return run(process.execPath, [...program, ...args], { cwd: ROOT }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (err: { code: number; stdout: string; stderr: string }) => err,
  );
}

/** The figures of a quick run. */
async function quick(name: string): Promise<Report & { taken: Record<string, string> }> {
  const { code, stdout, stderr } = await bench(name, '--quick', '--json');
  if (code !== 0) throw new Error(stderr);
  const { v, benches } = JSON.parse(stdout);
  expect(v).toBe(1);
  expect(Object.keys(benches)).toEqual([name]);
  return benches[name];
}

const table = (report: Report, title: RegExp) => report.tables.find((one) => title.test(one.title))!;
const isTime = (value: unknown) => typeof value === 'number' && value > 0;

describe('benches, with tiny sizes', () => {
  it('turn compares every kind of turn with a bare one, and shows where its time goes', async () => {
    const report = await quick('turn');
    const { rows, columns } = table(report, /Per turn/);
    expect(rows.map(([name]) => name)).toEqual([
      '3 × bare',
      '3 × read_file',
      '3 × write_to_file',
      '3 × execute_command',
    ]);
    for (const row of rows) {
      expect(isTime(row[columns.indexOf('ms a turn')])).toBe(true);
      expect(row[columns.indexOf('events')]).toBeGreaterThan(5);
    }
    const phases = table(report, /Profile/).rows;
    const whole = phases.at(-1)![1] as number;
    const parts = phases.slice(0, -1).reduce((sum, row) => sum + (row[1] as number), 0);
    expect(parts).toBeCloseTo(whole, 6);
    expect(isTime(table(report, /scripted model/).rows[0]![1])).toBe(true);
    expect(report.taken).toMatchObject({ Node: process.version, command: '`npm run bench -- turn --quick --json`' });
  }, 120_000);

  it('history measures payloads, runs and pace', async () => {
    const report = await quick('history');
    const sizes = Object.fromEntries(table(report, /History/).rows) as Record<string, number>;
    expect(sizes.runs).toBe(1);
    expect(sizes['largest payload, bytes']).toBeGreaterThan(100);
    expect(sizes['events a turn']).toBeGreaterThan(5);
    expect(table(report, /Pace/).rows.length).toBeGreaterThan(2);
  }, 120_000);

  it('start measures cold and warm starts and small commands', async () => {
    const { rows } = table(await quick('start'), /Start/);
    expect(rows.map(([name]) => name)).toEqual([
      'run, no service yet',
      'run, service up',
      'tasks',
      '--help',
      '--version',
      'down',
      'up',
    ]);
    for (const [, least] of rows) expect(isTime(least)).toBe(true);
  }, 120_000);

  it('memory looks at the service before, with and after waiting tasks', async () => {
    const report = await quick('memory');
    const { rows } = table(report, /Memory/);
    expect(rows.map(([name]) => name)).toEqual([
      'idle, before the first task',
      'idle, after one task',
      '3 tasks waiting',
      '3 tasks answered and ended',
    ]);
    for (const [, ...figures] of rows) expect(figures.slice(0, 6).every(isTime)).toBe(true);
    expect(table(report, /longhaul tasks/).rows.every((row) => isTime(row[1]))).toBe(true);
  }, 120_000);

  it('crash kills, and waits for the next action', async () => {
    const report = await quick('crash');
    expect(report.aims).toHaveLength(1);
    expect(isTime(report.aims[0]!.measured)).toBe(true);
  }, 120_000);

  it('edit carries out edits of every kind', async () => {
    const { rows } = table(await quick('edit'), /Edits/);
    expect(rows.map(([name]) => name)).toEqual(
      ['replace_in_file', 'replace_in_file, loosely', 'apply_patch', 'write_to_file'].map((name) => `${name}, 10 KB`),
    );
  });

  it('parse reads answers of both protocols, and finds their call', async () => {
    const { rows } = table(await quick('parse'), /pieces/);
    expect(rows.map(([name]) => name)).toEqual(['native, 10 KB', 'native, 100 KB', 'text, 10 KB', 'text, 100 KB']);
    for (const [, ...figures] of rows) expect(figures.every(isTime)).toBe(true);
  }, 120_000);

  it('latency goes from the model and from a person to the tool, and to a viewer', async () => {
    const report = await quick('latency');
    expect(report.aims).toHaveLength(4);
    for (const [, ...figures] of table(report, /Latency/).rows) expect(figures.every(isTime)).toBe(true);
  }, 120_000);

  it('lists the benches, and refuses what it does not know', async () => {
    expect(await bench()).toMatchObject({ code: 0, stdout: expect.stringContaining('  history ') });
    expect(await bench('nothing')).toMatchObject({ code: 2, stderr: expect.stringContaining('no bench "nothing"') });
    expect((await bench('--bogus')).stderr).toMatch(/^error: Unknown option '--bogus'\.$/m);
    expect(await bench('turn', '--turns', 'x')).toMatchObject({ code: 2, stderr: expect.stringContaining('--turns') });
  });
});

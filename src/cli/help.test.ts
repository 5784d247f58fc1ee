import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { testIo } from '../../test/support/cli.js';
import { packageRoot } from '../service/package.js';
import type { Io } from './io.js';
import { main } from './main.js';
import { buildProgram } from './program.js';
import { displayWidth } from './text.js';

async function longhaul(argv: string[], more: Partial<Io> = {}) {
  const io = testIo(more);
  return { code: await main(argv, io), out: io.text() };
}

/** A terminal's end of so many columns. */
const tty = (columns: number) => Object.assign(new PassThrough(), { isTTY: true, columns });

describe('help', () => {
  it('lists the commands and the exit codes', async () => {
    const { code, out } = await longhaul(['--help']);
    expect(code).toBe(0);
    for (const name of [
      'up',
      'down',
      'run',
      'attach',
      'log',
      'answer',
      'send',
      'abort',
      'tasks',
      'show',
      'worker',
      'doctor',
    ]) {
      expect(out).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
    }
    expect(out).toContain('130');
  });

  const commands = buildProgram(testIo(), () => {}).commands.map((one) => one.name());

  it.each(commands)('of %s has examples and exit codes, and fits 60 columns but for the examples', async (name) => {
    const { out } = await longhaul([name, '--help'], { stdout: tty(60) });
    expect(out).toMatch(new RegExp(`^Examples:\n  longhaul ${name}\\b`, 'm'));
    expect(out).toMatch(/^Exit codes:\n {2}0 {4}\S/m);
    const long = out.split('\n').filter((line) => displayWidth(line) > 60);
    expect(long.filter((line) => !line.startsWith('  longhaul '))).toEqual([]);
  });

  it('gives exactly the exit codes that docs/cli.md has', async () => {
    const docs = readFileSync(join(packageRoot, 'docs', 'cli.md'), 'utf8');
    const documented = [...docs.matchAll(/^\| (\d+) +\|/gm)].map(([, code]) => code);
    const { out } = await longhaul(['--help']);
    expect([...out.matchAll(/^ {2}(\d+) /gm)].map(([, code]) => code)).toEqual(documented);
  });

  it('has every flag of run', async () => {
    const { out } = await longhaul(['run', '--help']);
    for (const flag of [
      'workspace',
      'model',
      'yolo',
      'approve',
      'max-turns',
      'max-time',
      'detach',
      'json',
      'on-ask',
      'prompt-file',
    ]) {
      expect(out).toContain(`--${flag}`);
    }
  });
});

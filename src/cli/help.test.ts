import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { testIo } from '../../test/support/cli.js';
import { packageRoot } from '../service/package.js';
import { HELP } from './help.js';
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

/** All that people can call, with those of groups. */
function callable(command: Command, path: string[] = []): { name: string; path: string[] }[] {
  return command.commands
    .filter((one) => command.createHelp().visibleCommands(command).includes(one))
    .flatMap((one) => {
      const below = [...path, one.name()];
      return [{ name: below.join(' '), path: below }, ...callable(one, below)];
    });
}

const commands = callable(buildProgram(testIo(), () => {}));

describe('help', () => {
  it('lists the commands and the exit codes', async () => {
    const { code, out } = await longhaul(['--help']);
    expect(code).toBe(0);
    for (const { name } of commands.filter(({ path }) => path.length === 1))
      expect(out).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
    expect(out).toContain('130');
  });

  it.each(commands)(
    'of $name has examples and exit codes, and fits 60 columns but for the examples',
    async ({ path }) => {
      const { out } = await longhaul([...path, '--help'], { stdout: tty(60) });
      expect(out).toMatch(new RegExp(`^Examples:\n  longhaul ${path.join(' ')}\\b`, 'm'));
      expect(out).toMatch(/^Exit codes:\n {2}0 {4}\S/m);
      const long = out.split('\n').filter((line) => displayWidth(line) > 60);
      expect(long.filter((line) => !line.startsWith('  longhaul '))).toEqual([]);
    },
  );

  it('has nothing on commands that are not there', () => {
    expect(Object.keys(HELP).sort()).toEqual(commands.map(({ name }) => name).sort());
  });

  it.each([60, 100])('of the program fits %i columns', async (width) => {
    const { out } = await longhaul(['--help'], { stdout: tty(width) });
    expect(Math.max(...out.split('\n').map(displayWidth))).toBeLessThanOrEqual(width);
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
      'mode',
      'plan-model',
      'protocol',
      'ask-deadline',
      'ask-default',
      'ask-remind',
      'image',
      'file',
      'detach',
      'json',
      'on-ask',
      'prompt-file',
    ]) {
      expect(out).toContain(`--${flag}`);
    }
  });
});

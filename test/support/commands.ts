import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { RunCommand } from '../../src/runner/attach.js';
import { commandDir } from '../../src/runner/layout.js';
import { endCommands } from '../../src/runner/sweep.js';

const attach = fileURLToPath(new URL('../../dist/runner/attach.js', import.meta.url));

/** A folder for commands and one to run them in; at the end of the test both go, with everything that still runs. */
export function commandBench() {
  const root = mkdtempSync(join(tmpdir(), 'longhaul-test-'));
  const commandsDir = join(root, 'commands');
  const task = `task-${root.slice(-6)}`;
  let calls = 0;
  onTestFinished(async () => {
    await endCommands({ commandsDir, match: () => true });
    rmSync(root, { recursive: true, force: true });
  });
  return {
    root,
    commandsDir,
    task,
    counter: join(root, 'counter'),
    /** What `runCommand` gets, for a call of its own. */
    request(command: string, more: Partial<RunCommand['spec']> = {}): RunCommand {
      const call = `${root.slice(-6)}:${calls++}`;
      return {
        dir: commandDir(commandsDir, task, call),
        spec: { task, call, command, cwd: root, env: {}, scrub: [], timeoutMs: null, ...more },
      };
    },
  };
}

/** A process of its own that runs the command as a worker would. It prints the end as JSON. */
export function workerProcess(request: RunCommand, env: NodeJS.ProcessEnv = {}): ChildProcess {
  const { dir, spec } = request;
  const code = `const { runCommand } = await import(${JSON.stringify(attach)});
    const end = await runCommand(${JSON.stringify({ dir, spec })});
    console.log(JSON.stringify(end));`;
  return spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

export async function outputOf(child: ChildProcess): Promise<string> {
  let text = '';
  child.stdout?.on('data', (piece) => {
    text += piece;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return text;
}

/** Processes, without zombies, whose environment holds `entry`. */
export function processesWith(entry: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        const state = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')[0];
        return state !== 'Z' && readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(entry);
      } catch {
        return false;
      }
    });
}

export function processesOf(request: RunCommand): number[] {
  return processesWith(`LONGHAUL_CALL=${request.spec.call}`);
}

export async function until(condition: () => boolean, what: string): Promise<void> {
  for (const limit = Date.now() + 30_000; !condition(); ) {
    if (Date.now() > limit) throw new Error(`Waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

export function sizeOf(dir: string): number {
  return readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
}

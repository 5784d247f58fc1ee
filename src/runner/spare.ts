import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { withoutSecrets } from './environment.js';

/** V8's defaults would let the reading of fast output grow to hundreds of MB. */
const RUNNER_FLAGS = ['--max-old-space-size=64', '--max-semi-space-size=2'];

/** A runner that has started up and waits to be told its command: starting Node takes longer than most commands. */
interface Spare {
  child: ChildProcess;
  main: string;
  /** The environment it was started with, which the command will get. */
  environment: string;
}

let spare: Spare | undefined;

/** The compiled runner beside this module, or in dist when this runs from the sources. */
export function defaultRunner(): string {
  const beside = fileURLToPath(new URL('./main.js', import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL('../../dist/runner/main.js', import.meta.url));
}

/**
 * Starts a runner for the command in `dir`, in a session of its own. It takes the command only if nobody else has.
 * @param main path of the runner's program
 */
export function startRunner(dir: string, main: string): ChildProcess {
  const ready = takeSpare(main);
  if (ready?.stdin) {
    ready.stdin.end(`${dir}\n`);
    return ready;
  }
  return start(main, dir);
}

/** Keeps one runner ready, for the next command of this process. It ends by itself with this process. */
export function prepareRunner(main: string = defaultRunner()): void {
  if (spare !== undefined && isUsable(spare, main)) return;
  dropSpareRunner();
  const child = start(main);
  spare = { child, main, environment: environmentText() };
}

/** Ends the runner that is kept ready, if there is one. */
export function dropSpareRunner(): void {
  spare?.child.stdin?.end();
  spare = undefined;
}

function takeSpare(main: string): ChildProcess | undefined {
  if (spare === undefined || !isUsable(spare, main)) return undefined;
  const { child } = spare;
  spare = undefined;
  return child;
}

function isUsable({ child, main, environment }: Spare, wanted: string): boolean {
  return child.exitCode === null && child.signalCode === null && main === wanted && environment === environmentText();
}

function environmentText(): string {
  return JSON.stringify(process.env);
}

function start(main: string, dir?: string): ChildProcess {
  // meant for the program's own Node processes, not for the runner; the command gets it by `commandOnlyEnvironment`
  const { NODE_OPTIONS: _, ...env } = withoutSecrets(process.env);
  const args = [...RUNNER_FLAGS, main, ...(dir === undefined ? [] : [dir])];
  const stdin = dir === undefined ? 'pipe' : 'ignore';
  const child = spawn(process.execPath, args, { cwd: '/', detached: true, env, stdio: [stdin, 'ignore', 'ignore'] });
  child.on('error', () => {});
  child.unref();
  if (child.stdin) {
    child.stdin.on('error', () => {});
    (child.stdin as Socket).unref();
  }
  return child;
}

/** What {@link startRunner} keeps from the runner and the command must get all the same. */
export function commandOnlyEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  return env.NODE_OPTIONS === undefined ? {} : { NODE_OPTIONS: env.NODE_OPTIONS };
}

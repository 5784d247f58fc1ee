import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallKey, TaskId } from '../domain/ids.js';
import type { ProcessIdentity } from './identity.js';

/**
 * The folder of a command holds its whole state, so that any process can follow it, end it, or say how it ended:
 *
 *   spec.json    what to run; written once by the first worker
 *   claim.N      which runner may start it; a claim of a dead runner is followed by N+1
 *   owner.N      the workflow run that follows it; another run that attaches is N+1
 *   began        created by the command's own shell, exclusively, before anything else
 *   output.N     the output from byte N on (see output.ts)
 *   cancel       its presence asks the runner to end the command
 *   exit.json    how it ended; written once
 */
export interface CommandSpec {
  v: 1;
  task: TaskId;
  call: CallKey;
  command: string;
  /** Real path of the folder to run in. */
  cwd: string;
  /** Variables added to the worker's own. */
  env: Record<string, string>;
  /** Names of variables the command must not see, besides those that are always removed. */
  scrub: string[];
  /** null: none */
  timeoutMs: number | null;
  /** A command that prints more than this is ended. */
  maxOutputBytes: number;
  /** The boot in which this was written: after a restart of the machine nobody can tell whether the command began. */
  boot: string;
}

export interface RunnerClaim {
  /** Random, so that `began` can name the runner whose shell made it. */
  id: string;
  runner: ProcessIdentity;
}

/**
 * How a command ended. `failed`: it could not be started, and nothing ran. `unknown`: worker and runner both died.
 */
export type CommandEndKind = 'exited' | 'signalled' | 'timed_out' | 'output_limit' | 'cancelled' | 'failed' | 'unknown';

export interface CommandExit {
  v: 1;
  end: CommandEndKind;
  /** Exit code of the shell, when it ended by itself. */
  code: number | null;
  signal: string | null;
  /** Why it could not be started. */
  message?: string;
  /** ms from start to end; null when not known */
  ms: number | null;
  /** ms since the epoch */
  ended: number;
  /** All that was printed, kept or not. */
  bytes: number;
  /** Line ends printed, kept or not; null when not known. */
  lines: number | null;
  /** Processes of the command that outlive its shell. */
  living: number;
}

/** Longest name a task or call may have as a file name. */
const MAX_NAME = 200;

/** A name of one path element, and back again by {@link nameOf}. @throws RangeError when it is empty or too long */
export function fileName(name: string): string {
  const safe = encodeURIComponent(name).replace(/^\./, '%2E');
  if (safe === '' || safe.length > MAX_NAME) throw new RangeError(`Not usable as a file name: ${name.slice(0, 60)}`);
  return safe;
}

export function nameOf(file: string): string {
  return decodeURIComponent(file);
}

export function taskDir(commandsDir: string, task: TaskId): string {
  return join(commandsDir, fileName(task));
}

export function commandDir(commandsDir: string, task: TaskId, call: CallKey): string {
  return join(taskDir(commandsDir, task), fileName(call));
}

export const files = {
  spec: (dir: string) => join(dir, 'spec.json'),
  claim: (dir: string, number: number) => join(dir, `claim.${number}`),
  owner: (dir: string, number: number) => join(dir, `owner.${number}`),
  began: (dir: string) => join(dir, 'began'),
  cancel: (dir: string) => join(dir, 'cancel'),
  exit: (dir: string) => join(dir, 'exit.json'),
  script: (dir: string) => join(dir, 'command.sh'),
};

export function readSpec(dir: string): CommandSpec | undefined {
  return readJson<CommandSpec>(files.spec(dir));
}

export function readExit(dir: string): CommandExit | undefined {
  return readJson<CommandExit>(files.exit(dir));
}

/** The newest claim and its number; number 0 when there is none. */
export function readClaim(dir: string): { number: number; claim?: RunnerClaim } {
  const number = newestNumber(dir, 'claim');
  const claim = number === 0 ? undefined : readJson<RunnerClaim>(files.claim(dir, number));
  return claim === undefined ? { number } : { number, claim };
}

/** The greatest number N of the files `kind.N`; 0 when there is none. */
export function newestNumber(dir: string, kind: 'claim' | 'owner'): number {
  const numbers = readdirSync(dir).map((name) =>
    name.startsWith(`${kind}.`) ? Number(name.slice(kind.length + 1)) : 0,
  );
  return Math.max(0, ...numbers.filter(Number.isInteger));
}

/** Whose shell made `began`: the claim's id, and the shell's process id when it could still be written. */
export function readBegan(dir: string): { claim: string; shell?: number } | undefined {
  if (!existsSync(files.began(dir))) return undefined;
  const [claim = '', shell] = readFileSync(files.began(dir), 'utf8').split(' ');
  return shell === undefined ? { claim } : { claim, shell: Number(shell) };
}

/** Takes the right to begin; whoever has it, nobody else's shell goes on. */
export function takeBegan(dir: string, by: string): boolean {
  return createWhole(files.began(dir), by);
}

export function writeExit(dir: string, exit: CommandExit): boolean {
  return createWhole(files.exit(dir), JSON.stringify(exit));
}

export function requestCancel(dir: string): void {
  createWhole(files.cancel(dir), '');
}

export function isCancelRequested(dir: string): boolean {
  return existsSync(files.cancel(dir));
}

export function makeDir(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
}

let counter = 0;

/**
 * Creates a file with all its content at once, and only if there is none.
 * @returns false when it exists already
 */
export function createWhole(path: string, content: string): boolean {
  const temp = `${path}.${process.pid}.${++counter}.tmp`;
  try {
    writeFileSync(temp, content, { mode: 0o600 });
    linkSync(temp, path);
    return true;
  } catch (err) {
    if (errorCode(err) === 'EEXIST') return false;
    throw err;
  } finally {
    rmSync(temp, { force: true });
  }
}

export function errorCode(err: unknown): string | undefined {
  return err instanceof Error && 'code' in err && typeof err.code === 'string' ? err.code : undefined;
}

function readJson<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return undefined;
    throw err;
  }
}

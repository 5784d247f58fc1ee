import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process and the moment it started: a pid alone may belong to another process by the time it is used. */
export interface ProcessRef {
  pid: number;
  /** Opaque; equal for the same life of the same process on the same boot of the machine. */
  start: string;
}

/** The process with this pid, or undefined when there is none (a zombie counts as none). */
export function processRef(pid: number): ProcessRef | undefined {
  const start = process.platform === 'linux' ? linuxStart(pid) : otherStart(pid);
  return start === undefined ? undefined : { pid, start };
}

export function isAlive(ref: ProcessRef): boolean {
  return processRef(ref.pid)?.start === ref.start;
}

/**
 * Ends a process: SIGTERM, then after `graceMs` SIGKILL to its whole group.
 * Resolves when it is gone; a process that is not the referenced one any more is left alone.
 */
export async function endProcess(ref: ProcessRef, graceMs: number): Promise<void> {
  if (!isAlive(ref)) return;
  signal(ref.pid, 'SIGTERM');
  if (await goneWithin(ref, graceMs)) return;
  signal(-ref.pid, 'SIGKILL');
  signal(ref.pid, 'SIGKILL');
  await goneWithin(ref, 10_000);
}

/** Waits until the process is gone; false when it is still there after `ms`. */
export async function goneWithin(ref: ProcessRef, ms: number): Promise<boolean> {
  const until = Date.now() + ms;
  for (;;) {
    if (!isAlive(ref)) return true;
    if (Date.now() >= until) return false;
    await sleep(25);
  }
}

/** ms that all threads of a process get to stop. */
const STOP_MS = 500;

/**
 * Does something while a process is stopped, so that it cannot write. Synchronous, so keep it short.
 * @param ref undefined, and a process that is gone, need no stopping
 * @returns false when it could not be stopped, and nothing was done
 */
export function whileStopped(ref: ProcessRef | undefined, act: () => void): boolean {
  if (!ref || !isAlive(ref)) {
    act();
    return true;
  }
  signal(ref.pid, 'SIGSTOP');
  try {
    const until = Date.now() + STOP_MS;
    while (isAlive(ref) && !isStopped(ref.pid)) {
      if (Date.now() >= until) return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
    act();
    return true;
  } finally {
    signal(ref.pid, 'SIGCONT');
  }
}

function isStopped(pid: number): boolean {
  if (process.platform !== 'linux') {
    return execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .startsWith('T');
  }
  // each thread stops for itself, when its system call is over
  const threads = readdirSync(`/proc/${pid}/task`).map((id) => readOrUndefined(`/proc/${pid}/task/${id}/stat`));
  return threads.every((stat) => stat === undefined || /^[TtZX]/.test(stat.slice(stat.lastIndexOf(')') + 2)));
}

/** Processes of this machine whose command line has all of `args`; empty where there is no way to list them. */
export function processesWithArgs(args: string[]): ProcessRef[] {
  return commandLines()
    .filter(({ pid, has }) => pid !== process.pid && args.every(has))
    .map(({ pid }) => processRef(pid))
    .filter((ref) => ref !== undefined);
}

interface CommandLine {
  pid: number;
  has: (arg: string) => boolean;
}

function commandLines(): CommandLine[] {
  if (process.platform === 'linux') {
    const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
    return pids.map((pid) => {
      const args = new Set(readOrUndefined(`/proc/${pid}/cmdline`)?.split('\0'));
      return { pid, has: (arg) => args.has(arg) };
    });
  }
  if (process.platform === 'win32') return [];
  const table = execFileSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8', maxBuffer: 32 * 1024 * 1024 });
  return table.split('\n').map((line) => ({ pid: Number.parseInt(line, 10), has: (arg) => line.includes(` ${arg}`) }));
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it ended by itself, or is no leader of a group
  }
}

function linuxStart(pid: number): string | undefined {
  const stat = readOrUndefined(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // proc(5): after "pid (name) " come the state (field 3) and, as field 22, the start in ticks since boot
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return `${readOrUndefined('/proc/sys/kernel/random/boot_id')?.trim() ?? ''}:${fields[19]}`;
}

function otherStart(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'EPERM') return undefined;
  }
  if (process.platform === 'win32') return 'unknown';
  try {
    const out = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return out === '' || out.startsWith('Z') ? undefined : out.replace(/^\S+\s+/, '');
  } catch {
    return undefined;
  }
}

function readOrUndefined(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

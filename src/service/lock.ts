import {
  constants,
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isAlive, type ProcessRef, processRef } from './processes.js';

export interface HeldLock {
  /** From now on the lock is held as long as `ref` lives, whoever calls this. */
  handOver(ref: ProcessRef): void;
  release(): void;
}

/**
 * Takes the lock in `folder` for this process, or says who holds it. A lock whose holder has died is free.
 *
 * The folder holds numbered files; the highest number names the holder. Taking over means creating the next number,
 * which only one process can, and numbers never go down: so a slow process that still looks at an old holder can
 * neither remove nor repeat a newer lock.
 */
export function acquireLock(folder: string): HeldLock | { heldBy: ProcessRef } {
  const self = processRef(process.pid);
  if (!self) throw new Error('this process cannot be found in the process table');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (;;) {
    const top = highest(folder);
    const holder = top === 0 ? undefined : readHolder(folder, top);
    if (holder === 'unreadable') return { heldBy: { pid: 0, start: 'unknown' } };
    if (holder && isAlive(holder)) return { heldBy: holder };
    const mine = top + 1;
    if (!createNumber(folder, mine, self)) continue;
    if (highest(folder) > mine) {
      rmSync(join(folder, String(mine)), { force: true });
      continue;
    }
    for (const n of numbers(folder)) if (n < mine) rmSync(join(folder, String(n)), { force: true });
    return {
      handOver: (ref) => replace(folder, mine, ref),
      release: () => replace(folder, mine, undefined),
    };
  }
}

/** The live process that holds the lock in `folder`, if any. */
export function lockHolder(folder: string): ProcessRef | undefined {
  const top = highest(folder);
  const holder = top === 0 ? undefined : readHolder(folder, top);
  return holder && holder !== 'unreadable' && isAlive(holder) ? holder : undefined;
}

function numbers(folder: string): number[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch (err) {
    if (['ENOENT', 'ENOTDIR'].includes((err as NodeJS.ErrnoException).code ?? '')) return [];
    throw err;
  }
}

const highest = (folder: string): number => Math.max(0, ...numbers(folder));

function createNumber(folder: string, n: number, owner: ProcessRef): boolean {
  const temp = writeTemp(folder, owner);
  try {
    linkOrCopy(temp, join(folder, String(n)));
    return true;
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw err;
  } finally {
    rmSync(temp, { force: true });
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (err) {
    const code = (err as NodeJS.ErrnoException).code;
    // file systems without hard links
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw err;
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}

function replace(folder: string, n: number, owner: ProcessRef | undefined): void {
  renameSync(writeTemp(folder, owner), join(folder, String(n)));
}

function writeTemp(folder: string, owner: ProcessRef | undefined): string {
  const temp = join(folder, `new-${process.pid}-${Math.random().toString(36).slice(2)}`);
  writeFileSync(temp, JSON.stringify(owner ?? {}), { mode: 0o600 });
  return temp;
}

/** A half-written file (possible without hard links) counts as held for a moment, then as free. */
function readHolder(folder: string, n: number): ProcessRef | undefined | 'unreadable' {
  const path = join(folder, String(n));
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as Partial<ProcessRef>;
    return typeof value.pid === 'number' && typeof value.start === 'string'
      ? { pid: value.pid, start: value.start }
      : undefined;
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    return Date.now() - statSync(path).mtimeMs < 5000 ? 'unreadable' : undefined;
  }
}

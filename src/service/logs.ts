import {
  closeSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { type ProcessRef, whileStopped } from './processes.js';

/** Bytes from which a log is moved aside. */
export const LOG_BYTES = 10 * 1024 * 1024;

/** Generations that are kept beside a log: `<path>.1` is the newest. */
export const LOG_GENERATIONS = 3;

export interface RotateOptions {
  maxBytes?: number;
  generations?: number;
  /** Another process that writes to the log; it holds the file open for appending. */
  writer?: ProcessRef | undefined;
}

/**
 * Keeps a log within bounds: from `maxBytes` on, what it holds becomes generations and the file starts empty. A child
 * process holds the file open, so it is copied and cut, not renamed; for the end of the copy, a few ms, the writer is
 * stopped by a signal, so that nothing is lost. What is older than the last generation is dropped.
 *
 * @returns whether the log was rotated; a writer that cannot be stopped just now puts it off
 */
export function rotateLog(path: string, options: RotateOptions = {}): boolean {
  const { maxBytes = LOG_BYTES, generations = LOG_GENERATIONS, writer } = options;
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= maxBytes) return false;
  // a fast writer may have filled several since the last look
  const count = Math.max(1, Math.floor(size / maxBytes));
  const kept = Array.from({ length: Math.min(count, generations) }, (_, n) => count - Math.min(count, generations) + n);
  const temp = (n: number): string => `${path}.next-${n}`;
  const log = openSync(path, 'r+');
  try {
    for (const n of kept) copyPart(log, temp(n), 'w', n * maxBytes, n === count - 1 ? size : (n + 1) * maxBytes);
    return whileStopped(writer, () => {
      copyPart(log, temp(count - 1), 'a', size, fstatSync(log).size);
      for (const n of kept) {
        for (let old = generations - 1; old >= 1; old--) renameIfThere(`${path}.${old}`, `${path}.${old + 1}`);
        renameSync(temp(n), `${path}.1`);
      }
      ftruncateSync(log, 0);
    });
  } finally {
    closeSync(log);
    for (const n of kept) rmSync(temp(n), { force: true });
  }
}

function copyPart(from: number, to: string, flags: 'w' | 'a', start: number, end: number): void {
  const out = openSync(to, flags, 0o600);
  try {
    const buffer = Buffer.alloc(Math.min(1024 * 1024, Math.max(0, end - start)));
    for (let at = start; at < end; ) {
      const read = readSync(from, buffer, 0, Math.min(buffer.length, end - at), at);
      if (read === 0) return;
      writeAll(out, buffer.subarray(0, read));
      at += read;
    }
  } finally {
    closeSync(out);
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}

function renameIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'ENOENT') throw err;
  }
}

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Replaces a small file so that a reader sees the old or the new text, never a part. */
export function writeAtomic(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temp = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(temp, text, { mode: 0o600 });
    renameSync(temp, path);
  } catch (err) {
    rmSync(temp, { force: true });
    throw err;
  }
}

/** Reads a JSON file; undefined when it is missing or not JSON. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Opens a log for appending, with its folder. The caller closes the descriptor. */
export function openLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return openSync(path, 'a', 0o600);
}

/** Size of a file in bytes, 0 when it is missing. */
export function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** The last lines of a log, at most 4 KB, from byte `from` on. */
export function logTail(path: string, lines = 15, from = 0): string {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    const size = fstatSync(fd).size;
    const start = Math.max(from <= size ? from : 0, size - 4096);
    const buffer = Buffer.alloc(size - start);
    readSync(fd, buffer, 0, buffer.length, start);
    return buffer.toString('utf8').trimEnd().split('\n').slice(-lines).join('\n');
  } finally {
    closeSync(fd);
  }
}

const END_OF_LOG = 'The end of its log:';

/** What has ended and why, with the end of its log, once. @param from byte at which its own part of the log begins */
export function withEndOfLog(message: string, path: string, from = 0): string {
  return message.includes(END_OF_LOG) ? message : `${message} ${END_OF_LOG}\n${logTail(path, 15, from) || '(empty)'}`;
}

/** The same without the log, on one line. */
export function withoutLog(message: string): string {
  return (message.split(END_OF_LOG)[0] ?? '').trim().replaceAll('\n', ' ');
}

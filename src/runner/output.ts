import { closeSync, openSync, readdirSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from './layout.js';

/**
 * Output on disk: segments of this many bytes, `output.<offset of the first byte>`, only ever appended to. The first
 * one and the last two are kept, so that a command leaves at most three behind, whatever it prints, and a reader
 * can follow by offset.
 */
export const SEGMENT_BYTES = 256 * 1024;

const NEWLINE = 10;

/** Writes the output of one command. Never throws: what cannot be written (disk full) is only counted. */
export class OutputWriter {
  bytes = 0;
  lines = 0;
  private fd: number | undefined;

  constructor(private readonly dir: string) {}

  write(chunk: Uint8Array): void {
    for (let i = 0; i < chunk.length; i++) if (chunk[i] === NEWLINE) this.lines++;
    let at = 0;
    while (at < chunk.length) {
      const filled = this.bytes % SEGMENT_BYTES;
      if (filled === 0) this.next();
      const piece = chunk.subarray(at, at + SEGMENT_BYTES - filled);
      this.append(piece);
      this.bytes += piece.length;
      at += piece.length;
    }
  }

  close(): void {
    if (this.fd !== undefined) closeSync(this.fd);
    this.fd = undefined;
  }

  private next(): void {
    this.close();
    const dropped = this.bytes - 2 * SEGMENT_BYTES;
    try {
      if (dropped > 0) unlinkSync(segment(this.dir, dropped));
    } catch {
      // it was never written
    }
    try {
      this.fd = openSync(segment(this.dir, this.bytes), 'a', 0o600);
    } catch {
      this.fd = undefined;
    }
  }

  private append(piece: Uint8Array): void {
    if (this.fd === undefined) return;
    try {
      for (let at = 0; at < piece.length; ) at += writeSync(this.fd, piece, at);
    } catch {
      this.close();
    }
  }
}

function segment(dir: string, offset: number): string {
  return join(dir, `output.${offset}`);
}

/** The kept output of a command: `head` from its first byte on, `tail` up to its last one. */
export interface KeptOutput {
  head: Buffer;
  /** Empty when `head` holds everything. */
  tail: Buffer;
  /** Bytes between the two that were not kept. */
  gap: number;
  /** All bytes printed, as far as the files tell. */
  bytes: number;
}

/** Reads what was kept. At most three segments of memory. May be called while the command still prints. */
export function readKept(dir: string): KeptOutput {
  for (let tries = 0; ; tries++) {
    const offsets = segmentOffsets(dir);
    const pieces = offsets.map((offset) => readSegment(dir, offset, 0));
    // a segment dropped between listing and reading: look again
    if (tries < 20 && pieces.some((piece) => piece === undefined)) continue;
    return joinPieces(
      offsets,
      pieces.map((piece) => piece ?? Buffer.alloc(0)),
    );
  }
}

/** The head, and the longest unbroken run of segments at the end. */
function joinPieces(offsets: number[], pieces: Buffer[]): KeptOutput {
  const none = Buffer.alloc(0);
  const last = offsets.length - 1;
  if (last < 0) return { head: none, tail: none, gap: 0, bytes: 0 };
  const endOf = (i: number) => (offsets[i] ?? 0) + (pieces[i]?.length ?? 0);
  let first = last;
  while (first > 0 && endOf(first - 1) === offsets[first]) first--;
  const run = Buffer.concat(pieces.slice(first));
  const start = offsets[first] ?? 0;
  if (start === 0) return { head: run, tail: none, gap: 0, bytes: run.length };
  const head = offsets[0] === 0 ? (pieces[0] ?? none) : none;
  return { head, tail: run, gap: start - head.length, bytes: endOf(last) };
}

function segmentOffsets(dir: string): number[] {
  return readdirSync(dir)
    .map((name) => /^output\.(\d+)$/.exec(name)?.[1])
    .filter((offset) => offset !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

/** More of the first segment, from byte `from` on, at most 64 KB: all that a follower gets live. */
export function readHead(dir: string, from: number): Buffer {
  return readSegment(dir, 0, from, 64 * 1024) ?? Buffer.alloc(0);
}

/** @returns undefined when there is no such segment (any more) */
function readSegment(dir: string, offset: number, from: number, max = SEGMENT_BYTES): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(segment(dir, offset), 'r');
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return undefined;
    throw err;
  }
  try {
    const buffer = Buffer.allocUnsafe(Math.min(SEGMENT_BYTES - from, max));
    let length = 0;
    while (length < buffer.length) {
      const read = readSync(fd, buffer, length, buffer.length - length, from + length);
      if (read === 0) break;
      length += read;
    }
    return buffer.subarray(0, length);
  } finally {
    closeSync(fd);
  }
}

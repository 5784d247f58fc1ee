import { shortHash } from '../domain/hash.js';

/** Length of the pieces that a block is streamed in, in UTF-16 units: always the same, or drawn from a seed. */
export type Chunking = number | { seed: number; min: number; max: number };

export const DEFAULT_CHUNK = 20;

/** Cuts a text into deltas, never inside a character. The same text and seed give the same pieces. */
export function split(text: string, chunking: Chunking = DEFAULT_CHUNK): string[] {
  const next = sizes(text, chunking);
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = boundary(text, at + Math.max(1, next()));
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

/** The first half of a text, at least one character shorter than the whole. */
export function firstHalf(text: string): string {
  const middle = Math.floor(text.length / 2);
  return text.slice(0, isLowSurrogate(text.charCodeAt(middle)) ? middle - 1 : middle);
}

function sizes(text: string, chunking: Chunking): () => number {
  if (typeof chunking === 'number') return () => chunking;
  const { seed, min, max } = chunking;
  const random = randomFrom(Number.parseInt(shortHash(`${seed}:${text}`).slice(0, 8), 16));
  return () => min + Math.floor(random() * (max - min + 1));
}

function boundary(text: string, at: number): number {
  return at < text.length && isLowSurrogate(text.charCodeAt(at)) ? at + 1 : at;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Mulberry32: numbers from 0 to 1, the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

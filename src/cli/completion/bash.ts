import { displayWidth, fitTo, pad } from '../text.js';
import type { Candidate } from './complete.js';

/** bash makes words of their own of these. */
const BREAKS = /^[:=]+$/;

/**
 * Puts together what bash has split: `--on-ask=wait` arrives in three pieces, and so does an id with a colon.
 *
 * @returns the words, and how much of the last one stands before the piece that bash completes
 */
export function joinPieces(pieces: readonly string[]): { whole: string[]; typed: number } {
  const whole: string[] = [];
  let broken = false;
  for (const piece of pieces) {
    const breaks = BREAKS.test(piece);
    if (whole.length > 0 && (breaks || broken)) whole.push((whole.pop() ?? '') + piece);
    else whole.push(piece);
    broken = breaks;
  }
  const [word = '', piece = ''] = [whole.at(-1), pieces.at(-1)];
  if (word === piece) return { whole, typed: 0 };
  return { whole, typed: BREAKS.test(piece) ? word.length : word.length - piece.length };
}

/** Kinds of completion, as bash numbers them, that put candidates into the line one after the other. */
const INSERTING = [37, 42];

/**
 * bash shows candidates and inserts what they have in common, so a description may stand behind several, never behind one
 * alone.
 */
export function shownInBash(candidates: readonly Candidate[], look: { type: number; columns: number }): string[] {
  const described = candidates.length > 1 && !INSERTING.includes(look.type);
  const width = Math.max(0, ...candidates.map(({ value }) => displayWidth(value)));
  return candidates.map(({ value, about }) => {
    const room = look.columns - width - 4;
    if (!described || about === '' || room < 10) return value;
    return `${pad(value, width)}  (${fitTo(about, room)})`;
  });
}

import { cut } from '../domain/text.js';

export interface NumberedLines {
  text: string;
  /** Number of the last line in `text`, from 1. */
  last: number;
  /** Set when `text` had to end before the line that was asked for. */
  cut: boolean;
}

/**
 * Lines as `N | text`, the first one with the number `from`, within `maxChars`. A single line that is longer than that
 * is cut inside.
 */
export function numberLines(lines: readonly string[], from: number, maxChars: number): NumberedLines {
  const pieces: string[] = [];
  let left = maxChars;
  for (const [at, line] of lines.entries()) {
    const number = from + at;
    const piece = `${number} | ${line}`;
    if (piece.length + 1 > left) {
      if (pieces.length > 0) return { text: pieces.join('\n'), last: number - 1, cut: true };
      return { text: cut(piece, left), last: number, cut: true };
    }
    pieces.push(piece);
    left -= piece.length + 1;
  }
  return { text: pieces.join('\n'), last: from + lines.length - 1, cut: false };
}

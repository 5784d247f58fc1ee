import { cut } from '../domain/text.js';
import type { Pace } from './pace.js';

/** Lines of the file that an error shows, and how long each may be. */
const SHOWN_LINES = 20;
const SHOWN_CHARS = 200;
/** A line that SEARCH repeats votes with its first places only, and lines longer than this are not compared by words. */
const MAX_PLACES = 4;
const MAX_WORDS_CHARS = 2000;
/** Lines between two looks at the clock. */
const LINES_AT_ONCE = 200;

/**
 * Tells why a SEARCH text does not match: the stretch of the file that agrees with most of its lines, with line
 * numbers, and the first line that differs.
 *
 * @param lines the file
 * @param wanted the lines to find
 * @param name what errors call them
 */
export async function describeMiss(lines: string[], wanted: string[], pace: Pace, name = 'SEARCH'): Promise<string> {
  const start = (await bestStart(lines, wanted, pace)) ?? (await similarLine(lines, wanted, pace));
  if (start === undefined) {
    return `No line of the file resembles ${named(name)}. Read the file again and copy the text from it.`;
  }
  const from = Math.max(0, start);
  const shown = lines.slice(from, from + Math.min(wanted.length + 2, SHOWN_LINES));
  const numbered = shown.map((line, at) => `${from + at + 1} | ${cut(line, SHOWN_CHARS)}`).join('\n');
  const differs = wanted.findIndex((line, at) => lines[start + at]?.trim() !== line.trim());
  const there = lines[start + differs];
  const difference =
    differs < 0
      ? ''
      : `${name === 'SEARCH' ? 'SEARCH line' : 'Line'} ${differs + 1}${name === 'SEARCH' ? '' : ` of ${name}`} is ${quote(wanted[differs] ?? '')}, but line ${start + differs + 1} of the file ` +
        `${there === undefined ? 'does not exist' : `is ${quote(there)}`}.\n`;
  return `The nearest text in the file is:\n${numbered}\n${difference}Copy the text exactly as it is in the file.`;
}

/** Every line that occurs in both votes for the start at which they would lie upon each other. */
async function bestStart(lines: string[], wanted: string[], pace: Pace): Promise<number | undefined> {
  const places = new Map<string, number[]>();
  wanted.forEach((line, at) => {
    const key = line.trim();
    if (key === '') return;
    const known = places.get(key);
    if (known && known.length < MAX_PLACES) known.push(at);
    else if (!known) places.set(key, [at]);
  });
  const votes = new Map<number, number>();
  let best: number | undefined;
  for (const [at, line] of lines.entries()) {
    if (at % LINES_AT_ONCE === 0 && pace.due) await pace.rest();
    for (const offset of places.get(line.trim()) ?? []) {
      const count = (votes.get(at - offset) ?? 0) + 1;
      votes.set(at - offset, count);
      if (best === undefined || count > (votes.get(best) ?? 0)) best = at - offset;
    }
  }
  return best;
}

/** The line that shares most words with the first line of SEARCH that has any. */
async function similarLine(lines: string[], wanted: string[], pace: Pace): Promise<number | undefined> {
  const offset = wanted.findIndex((line) => /[\p{L}\p{N}_]/u.test(line));
  const words = wordsOf(wanted[offset] ?? '');
  let best: number | undefined;
  let bestShare = 0.3;
  for (const [at, line] of lines.entries()) {
    if (at % LINES_AT_ONCE === 0 && pace.due) await pace.rest();
    if (line.length > MAX_WORDS_CHARS) continue;
    const others = wordsOf(line);
    let common = 0;
    for (const word of words) if (others.has(word)) common++;
    const share = common / Math.max(words.size, others.size, 1);
    if (share > bestShare) [best, bestShare] = [at - offset, share];
  }
  return best;
}

function wordsOf(line: string): Set<string> {
  return new Set(line.slice(0, MAX_WORDS_CHARS).match(/[\p{L}\p{N}_]+/gu) ?? []);
}

function named(name: string): string {
  return name === 'SEARCH' ? 'the SEARCH text' : name;
}

function quote(line: string): string {
  return JSON.stringify(cut(line, SHOWN_CHARS));
}

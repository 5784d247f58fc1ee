import { ToolError } from '../tools/tool.js';
import type { Pace } from './pace.js';

/** A text cut into lines, so that it can be searched with `\n` as the only line break and changed where it stands. */
export interface LineIndex {
  original: string;
  /** Lines without their breaks. */
  texts: string[];
  /** The break of each line; empty only for a last line without one. */
  breaks: string[];
  /** Where each line begins in `original`. */
  starts: number[];
  /** The break that most lines have; `\n` when there is none. */
  mainBreak: string;
}

/** Most lines that a file may have to be edited by blocks. */
export const MAX_LINES = 3_000_000;

/**
 * A lone carriage return breaks lines only in a text that has no line feed at all.
 *
 * @throws ToolError above {@link MAX_LINES}
 */
export async function indexLines(original: string, pace: Pace): Promise<LineIndex> {
  const feed = original.includes('\n') ? '\n' : '\r';
  const index: LineIndex = {
    original,
    texts: [],
    breaks: [],
    starts: [],
    mainBreak: '\n',
  };
  for (const { start, end, next } of linesFrom(original, feed)) {
    index.starts.push(start);
    index.texts.push(original.slice(start, end));
    index.breaks.push(original.slice(end, next));
    if (index.texts.length % 10_000 === 0 && pace.due) await pace.rest();
    if (index.texts.length > MAX_LINES) throw tooManyLines();
  }
  await pace.rest();
  index.mainBreak = mainBreakOf(index.breaks);
  return index;
}

function* linesFrom(text: string, feed: string): Generator<{ start: number; end: number; next: number }> {
  let start = 0;
  for (let at = text.indexOf(feed); at >= 0; at = text.indexOf(feed, start)) {
    const end = feed === '\n' && at > start && text.charCodeAt(at - 1) === 13 ? at - 1 : at;
    yield { start, end, next: at + 1 };
    start = at + 1;
  }
  if (start < text.length) yield { start, end: text.length, next: text.length };
}

function tooManyLines(): ToolError {
  return new ToolError(
    `The file has more than ${MAX_LINES.toLocaleString('en-US')} lines, the most that blocks can change. Nothing was` +
      ' changed. Use write_to_file, or a command.',
  );
}

/** The lines `from` to `to` (from 1, both included) of a text, as far as it has them, and how many it has. */
export function pickLines(text: string, from: number, to: number): { lines: string[]; count: number } {
  const feed = text.includes('\n') ? 10 : 13;
  const lines: string[] = [];
  let count = 0;
  let start = 0;
  const add = (end: number) => {
    if (++count < from || count > to) return;
    lines.push(text.slice(start, feed === 10 && end > start && text.charCodeAt(end - 1) === 13 ? end - 1 : end));
  };
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) !== feed) continue;
    add(at);
    start = at + 1;
  }
  if (start < text.length) {
    count++;
    if (count >= from && count <= to) lines.push(text.slice(start));
  }
  return { lines, count };
}

function mainBreakOf(breaks: string[]): string {
  const counts = new Map<string, number>();
  for (const found of breaks) if (found !== '') counts.set(found, (counts.get(found) ?? 0) + 1);
  let main = '\n';
  for (const [found, count] of counts) if (count > (counts.get(main) ?? 0)) main = found;
  return main;
}

import { ToolError } from '../tools/tool.js';
import type { EditBlock, Reading } from './edit-blocks.js';
import { indexLines, type LineIndex, lineAt, originalOffset } from './line-index.js';
import { describeMiss } from './nearest.js';

export interface AppliedEdits {
  text: string;
  /** Numbers of the blocks that matched only when white space at the ends of lines was ignored. */
  loose: number[];
}

/** A stretch of `LineIndex.normal`, always ending at the end of a line. */
interface Span {
  start: number;
  end: number;
}

interface Placed extends Span {
  number: number;
  replace: string;
  loose: boolean;
}

/**
 * Applies all blocks or none. A block goes to the first match after the block before it: whole lines as they are; then
 * the same without the indentation of the first line; then line by line without white space at both ends. Where there is
 * none it is looked for from the start of the file. Unmatched lines are never replaced, blocks never overlap, every
 * line that stays keeps its bytes, and new lines get the line break of the lines they replace or follow.
 *
 * @param original the file's text; empty for a new file
 * @throws ToolError when a block matches nothing or only what another block has taken
 */
export function applyEdits(original: string, blocks: EditBlock[], display: string): AppliedEdits {
  if (original === '') return { text: textOfNewFile(blocks, display), loose: [] };
  const index = indexLines(original);
  const placed: Placed[] = [];
  for (const block of blocks) placed.push(place(index, block, placed, display, blocks.length));
  return { text: splice(index, placed), loose: placed.filter((block) => block.loose).map((block) => block.number) };
}

function textOfNewFile(blocks: EditBlock[], display: string): string {
  const [block, ...more] = blocks;
  const reading = block?.readings.find(({ search }) => search === '');
  if (reading === undefined) {
    throw new ToolError(
      `"${display}" is new or empty, so there is nothing that SEARCH could match. Nothing was changed. Use write_to_file,` +
        ' or one block with an empty SEARCH.',
    );
  }
  if (more.length > 0) {
    throw new ToolError(
      `"${display}" is new or empty: only one block, with an empty SEARCH, can be applied. Nothing was changed.`,
    );
  }
  return reading.replace;
}

function place(index: LineIndex, block: EditBlock, placed: Placed[], display: string, count: number): Placed {
  const after = placed.at(-1)?.end ?? 0;
  let overlaps = false;
  for (const from of after > 0 ? [after, 0] : [0]) {
    for (const matches of [exactLines, unindentedLines, trimmedLines]) {
      for (const reading of block.readings) {
        if (reading.search === '') continue;
        for (const span of matches(index, normalised(index, reading.search), from)) {
          const free = placed.every((other) => span.end <= other.start || span.start >= other.end);
          if (free) return take(index, block.number, reading, span, matches === trimmedLines);
          overlaps = true;
        }
      }
    }
  }
  throw failure(index, block, overlaps, display, count);
}

function take(index: LineIndex, number: number, reading: Reading, span: Span, loose: boolean): Placed {
  const replace = normalised(index, reading.replace);
  const lineStart = index.normalStarts[lineAt(index, span.start)] ?? 0;
  // A deletion takes the indentation along; else it would join what is left of the line with the next one.
  const start = replace === '' ? lineStart : span.start;
  return { number, replace, loose, start, end: span.end };
}

function failure(index: LineIndex, block: EditBlock, overlaps: boolean, display: string, count: number): ToolError {
  const name = count > 1 ? `Block ${block.number} of ${count}` : 'The block';
  const search = block.readings[0]?.search ?? '';
  if (search === '') {
    return new ToolError(
      `${name} has an empty SEARCH, which is only for a new or empty file; "${display}" has content. Nothing was changed.`,
    );
  }
  if (overlaps) {
    return new ToolError(
      `${name} matches only text of "${display}" that an earlier block already replaces. Nothing was changed. Put both` +
        ' changes into one block.',
    );
  }
  const miss = describeMiss(index.texts, normalised(index, search).split('\n').slice(0, -1));
  return new ToolError(`${name} does not match "${display}". Nothing was changed.\n${miss}`);
}

function* exactLines(index: LineIndex, search: string, from: number): Generator<Span> {
  for (let at = index.normal.indexOf(search, from); at >= 0; at = index.normal.indexOf(search, at + 1)) {
    if (at === 0 || index.normal[at - 1] === '\n') yield { start: at, end: at + search.length };
  }
}

function* unindentedLines(index: LineIndex, search: string, from: number): Generator<Span> {
  for (let at = index.normal.indexOf(search, from); at >= 0; at = index.normal.indexOf(search, at + 1)) {
    const lineStart = index.normalStarts[lineAt(index, at)] ?? 0;
    if (lineStart >= from && index.normal.slice(lineStart, at).trim() === '') {
      yield { start: at, end: at + search.length };
    }
  }
}

function* trimmedLines(index: LineIndex, search: string, from: number): Generator<Span> {
  const wanted = search
    .split('\n')
    .slice(0, -1)
    .map((line) => line.trim());
  const first = index.normalStarts[lineAt(index, from)] === from ? lineAt(index, from) : lineAt(index, from) + 1;
  for (let line = first; line + wanted.length <= index.texts.length; line++) {
    if (!wanted.every((text, offset) => index.texts[line + offset]?.trim() === text)) continue;
    yield {
      start: index.normalStarts[line] ?? 0,
      end: index.normalStarts[line + wanted.length] ?? index.normal.length,
    };
  }
}

/** In a file with carriage returns only, those of the block are line breaks too. */
function normalised(index: LineIndex, text: string): string {
  return index.mainBreak === '\r' ? text.replaceAll('\r', '\n') : text;
}

function splice(index: LineIndex, placed: Placed[]): string {
  const pieces: string[] = [];
  let done = 0;
  for (const block of [...placed].sort((a, b) => a.start - b.start)) {
    const change = narrowed(index, block);
    const start = originalOffset(index, change.start);
    pieces.push(index.original.slice(done, start), withBreaks(index, change));
    done = originalOffset(index, change.end);
  }
  pieces.push(index.original.slice(done));
  return pieces.join('');
}

interface Change extends Span {
  lines: string[];
}

/** Leaves lines out that the block repeats unchanged at its beginning and end, so that they keep their bytes. */
function narrowed(index: LineIndex, block: Placed): Change {
  const before = index.normal.slice(block.start, block.end).split('\n').slice(0, -1);
  const after = block.replace.split('\n').slice(0, -1);
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const length = (lines: string[]) => lines.reduce((sum, line) => sum + line.length + 1, 0);
  return {
    start: block.start + length(before.slice(0, head)),
    end: block.end - length(before.slice(before.length - tail)),
    lines: after.slice(head, after.length - tail),
  };
}

function withBreaks(index: LineIndex, { start, end, lines }: Change): string {
  if (lines.length === 0) return '';
  const first = lineAt(index, start);
  const replaced = index.breaks.slice(first, lineAt(index, end));
  const neighbour = index.breaks[first - 1] || index.breaks[first] || index.mainBreak;
  const other = replaced.findLast((found) => found !== '') ?? neighbour;
  const noFinalBreak = end === index.normal.length && index.breaks.at(-1) === '';
  const text = lines.map((line, at) => line + (replaced[at] || other)).join('');
  if (!noFinalBreak) return text;
  const last = replaced[lines.length - 1] || other;
  const body = text.slice(0, -last.length);
  // Lines added behind a last line that has no break: the break goes before them.
  return start === end ? other + body : body;
}

import { ToolError } from '../tools/tool.js';
import type { EditBlock, Reading } from './edit-blocks.js';
import { indexLines, type LineIndex, lineAt, originalOffset } from './line-index.js';
import { describeMiss } from './nearest.js';
import { Pace } from './pace.js';

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
 * The time for one block grows with the length of the file only, and other work gets its turn between.
 *
 * @throws ToolError when a block matches nothing or only what another block has taken
 */
export async function applyEdits(
  original: string,
  blocks: EditBlock[],
  display: string,
  signal?: AbortSignal,
): Promise<AppliedEdits> {
  if (original === '') return { text: textOfNewFile(blocks, display), loose: [] };
  const pace = new Pace(signal);
  const index = await indexLines(original, pace);
  const placed: Placed[] = [];
  for (const block of blocks) placed.push(await place(index, block, placed, display, blocks.length, pace));
  await pace.rest();
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

async function place(
  index: LineIndex,
  block: EditBlock,
  placed: Placed[],
  display: string,
  count: number,
  pace: Pace,
): Promise<Placed> {
  const after = placed.at(-1)?.end ?? 0;
  let overlaps = false;
  for (const from of after > 0 ? [after, 0] : [0]) {
    for (const matches of ['exact', 'unindented', 'trimmed'] as const) {
      for (const reading of block.readings) {
        if (reading.search === '') continue;
        for await (const span of spansOf(matches, index, normalised(index, reading.search), from, pace)) {
          const free = placed.every((other) => span.end <= other.start || span.start >= other.end);
          if (free) return take(index, block.number, reading, span, matches === 'trimmed');
          overlaps = true;
        }
      }
    }
  }
  throw await failure(index, block, overlaps, display, count, pace);
}

function take(index: LineIndex, number: number, reading: Reading, span: Span, loose: boolean): Placed {
  const replace = normalised(index, reading.replace);
  const lineStart = index.normalStarts[lineAt(index, span.start)] ?? 0;
  // A deletion takes the indentation along; else it would join what is left of the line with the next one.
  const start = replace === '' ? lineStart : span.start;
  return { number, replace, loose, start, end: span.end };
}

async function failure(
  index: LineIndex,
  block: EditBlock,
  overlaps: boolean,
  display: string,
  count: number,
  pace: Pace,
): Promise<ToolError> {
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
  const miss = await describeMiss(index.texts, normalised(index, search).split('\n').slice(0, -1), pace);
  return new ToolError(`${name} does not match "${display}". Nothing was changed.\n${miss}`);
}

type Matching = 'exact' | 'unindented' | 'trimmed';

/** Lines between two looks at the clock. */
const LINES_AT_ONCE = 1000;

/**
 * Where the lines of `search` stand, from offset `from` on. Every line of the file is looked at about twice at most: after
 * a mismatch, what has matched tells where the next match can begin (Knuth, Morris and Pratt).
 */
async function* spansOf(
  matching: Matching,
  index: LineIndex,
  search: string,
  from: number,
  pace: Pace,
): AsyncGenerator<Span> {
  const form = (line: string) => (matching === 'trimmed' ? line.trim() : line);
  const all = search.split('\n').slice(0, -1).map(form);
  // The first line may stand behind an indentation: it is compared when the lines after it have been found.
  const lead = matching === 'unindented' ? all[0] : undefined;
  const wanted = lead === undefined ? all : all.slice(1);
  const before = all.length - wanted.length;
  const fallbacks = fallbacksOf(wanted);
  let matched = 0;
  for (let line = firstLine(index, from) + before; line < index.texts.length + (wanted.length === 0 ? 1 : 0); line++) {
    if (line % LINES_AT_ONCE === 0 && pace.due) await pace.rest();
    if (wanted.length > 0) {
      const text = form(index.texts[line] ?? '');
      while (matched > 0 && wanted[matched] !== text) matched = fallbacks[matched - 1] ?? 0;
      if (wanted[matched] === text) matched++;
      if (matched < wanted.length) continue;
      matched = fallbacks[matched - 1] ?? 0;
    }
    const end = line + (wanted.length === 0 ? 0 : 1);
    const first = end - all.length;
    const indent = lead === undefined ? 0 : indentBefore(index.texts[first] ?? '', lead);
    if (indent === undefined) continue;
    yield {
      start: (index.normalStarts[first] ?? 0) + indent,
      end: index.normalStarts[end] ?? index.normal.length,
    };
  }
}

/** For each count of matched lines, the longest shorter one that the same lines of the file match as well. */
function fallbacksOf(wanted: string[]): number[] {
  const fallbacks = [0];
  let matched = 0;
  for (let at = 1; at < wanted.length; at++) {
    while (matched > 0 && wanted[at] !== wanted[matched]) matched = fallbacks[matched - 1] ?? 0;
    if (wanted[at] === wanted[matched]) matched++;
    fallbacks.push(matched);
  }
  return fallbacks;
}

function indentBefore(line: string, lead: string): number | undefined {
  if (!line.endsWith(lead)) return undefined;
  const indent = line.length - lead.length;
  return line.slice(0, indent).trim() === '' ? indent : undefined;
}

function firstLine(index: LineIndex, from: number): number {
  const line = lineAt(index, from);
  return index.normalStarts[line] === from ? line : line + 1;
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

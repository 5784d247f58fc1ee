import { diffArrays } from 'diff';
import type { LineIndex } from './line-index.js';
import { indentBefore, type Matching, type Span } from './line-matches.js';

/** A block that has found its lines. */
export interface Placed extends Span {
  number: number;
  search: string[];
  replace: string[];
  matching: Matching;
}

/** The text with every block in its place; what no block changes keeps its bytes. */
export function splice(index: LineIndex, placed: readonly Placed[]): string {
  const pieces: string[] = [];
  let done = 0;
  for (const block of [...placed].sort((a, b) => a.start - b.start || a.end - b.end)) {
    for (const change of changesOf(index, block)) {
      pieces.push(index.original.slice(done, offsetOf(index, change.start)), withBreaks(index, change));
      done = offsetOf(index, change.end);
    }
  }
  pieces.push(index.original.slice(done));
  return pieces.join('');
}

function offsetOf(index: LineIndex, line: number): number {
  return index.starts[line] ?? index.original.length;
}

interface Change extends Span {
  lines: string[];
}

/** More different lines than this in one block are not told from each other: they are replaced as a whole. */
const MAX_DIFFERENT_LINES = 1000;

/** What a block really changes: lines that it repeats keep their bytes, also where they matched loosely only. */
function changesOf(index: LineIndex, { start, end, search, replace, matching }: Placed): Change[] {
  const lead = matching === 'unindented' ? indentBefore(index.texts[start] ?? '', search[0] ?? '') : '';
  const parts = diffArrays(search, replace, { maxEditLength: MAX_DIFFERENT_LINES });
  if (parts === undefined) return [{ start, end, lines: indented(replace, lead) }];
  const changes: Change[] = [];
  let line = start;
  let open: Change | undefined;
  for (const { added, removed, value } of parts) {
    if (!added && !removed) {
      line += value.length;
      open = undefined;
      continue;
    }
    if (!open) {
      open = { start: line, end: line, lines: [] };
      changes.push(open);
    }
    if (added) open.lines = line === start || open.start === start ? indented(value, lead) : value;
    else {
      line += value.length;
      open.end = line;
    }
  }
  return changes;
}

/** The first line of what was found without its indentation gets it back. */
function indented([first, ...rest]: string[], lead: string | undefined): string[] {
  return first === undefined ? [] : [(lead ?? '') + first, ...rest];
}

function withBreaks(index: LineIndex, { start, end, lines }: Change): string {
  if (lines.length === 0) return '';
  const replaced = index.breaks.slice(start, end);
  const neighbour = index.breaks[start - 1] || index.breaks[start] || index.mainBreak;
  const other = replaced.findLast((found) => found !== '') ?? neighbour;
  const noFinalBreak = end === index.texts.length && index.breaks.at(-1) === '';
  const text = lines.map((line, at) => line + (replaced[at] || other)).join('');
  if (!noFinalBreak) return text;
  const last = replaced[lines.length - 1] || other;
  const body = text.slice(0, -last.length);
  // Lines added behind a last line that has no break: the break goes before them.
  return start === end ? other + body : body;
}

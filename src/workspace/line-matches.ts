import { alike } from './alike.js';
import type { EditBlock } from './edit-blocks.js';
import type { LineIndex } from './line-index.js';
import type { Pace } from './pace.js';

/** Lines from `start` (from 0) up to but without `end`. */
export interface Span {
  start: number;
  end: number;
}

/** How lines are compared, in the order in which it is tried. */
export const MATCHINGS = ['exact', 'unindented', 'trimmed', 'alike'] as const;
export type Matching = (typeof MATCHINGS)[number];

/** Lines between two looks at the clock. */
export const LINES_AT_ONCE = 1000;

function formOf(matching: Matching): (line: string) => string {
  switch (matching) {
    case 'exact':
    case 'unindented':
      return (line) => line;
    case 'trimmed':
      return (line) => line.trim();
    case 'alike':
      return alike;
  }
}

/**
 * Where lines stand, from a line on. Every line of the file is looked at about twice at most: after a mismatch, what has
 * matched tells where the next match can begin (Knuth, Morris and Pratt).
 */
export async function* spansOf(
  matching: Matching,
  index: LineIndex,
  search: string[],
  { from, anchors, insert, atEnd }: { from: number; atEnd: true | undefined } & Pick<EditBlock, 'anchors' | 'insert'>,
  pace: Pace,
): AsyncGenerator<Span> {
  const total = index.texts.length;
  if (search.length === 0) {
    if (!insert) return;
    const line = anchors?.length && !atEnd ? from + 1 : total;
    yield { start: line, end: line };
    return;
  }
  if (atEnd) from = Math.max(from, total - search.length);
  const form = formOf(matching);
  const all = search.map(form);
  // The first line may stand behind an indentation: it is compared when the lines after it have been found.
  const lead = matching === 'unindented' ? all[0] : undefined;
  const wanted = lead === undefined ? all : all.slice(1);
  const before = all.length - wanted.length;
  const fallbacks = fallbacksOf(wanted);
  let matched = 0;
  for (let line = from + before; line < total + (wanted.length === 0 ? 1 : 0); line++) {
    if (line % LINES_AT_ONCE === 0 && pace.due) await pace.rest();
    if (wanted.length > 0) {
      const text = form(index.texts[line] ?? '');
      while (matched > 0 && wanted[matched] !== text) matched = fallbacks[matched - 1] ?? 0;
      if (wanted[matched] === text) matched++;
      if (matched < wanted.length) continue;
      matched = fallbacks[matched - 1] ?? 0;
    }
    const end = line + (wanted.length === 0 ? 0 : 1);
    const start = end - all.length;
    if (lead !== undefined && indentBefore(index.texts[start] ?? '', lead) === undefined) continue;
    yield { start, end };
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

/** The white space before `lead`, when a line consists of nothing else. */
export function indentBefore(line: string, lead: string): string | undefined {
  if (!line.endsWith(lead)) return undefined;
  const indent = line.slice(0, line.length - lead.length);
  return indent.trim() === '' ? indent : undefined;
}

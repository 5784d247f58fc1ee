import { formatPatch, type StructuredPatch, structuredPatch } from 'diff';
import { visible } from './visible.js';

export interface UnifiedDiff {
  /** Unified diff with three lines of context; control characters are made visible. */
  text: string;
  added: number;
  removed: number;
}

const CONTEXT_LINES = 3;
/** Longest edit script looked for, which takes about 100 ms; beyond it all is shown as removed and added. */
const MAX_EDIT_LINES = 1500;

/**
 * Diff of one file, for reading. It is cut at a line so that it stays within `maxChars`, and says so.
 *
 * @param before undefined for a new file
 */
export function unifiedDiff(display: string, before: string | undefined, after: string, maxChars: number): UnifiedDiff {
  const crlf = before === undefined || before === '' ? isAllCrlf(after) : isAllCrlf(before) && isAllCrlf(after);
  const shown = (text: string) => (crlf ? text.replaceAll('\r\n', '\n') : text);
  const oldName = before === undefined ? '/dev/null' : `a/${display}`;
  const patch = patchOf(oldName, `b/${display}`, shown(before ?? ''), shown(after));
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  const text = visible(formatPatch(patch).replace(/^=+\n/, ''));
  return {
    text: cutLines(text, maxChars),
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
  };
}

/** Compares only what lies between the first and the last difference: files may have a million lines. */
function patchOf(oldName: string, newName: string, before: string, after: string): StructuredPatch {
  const head = commonHead(before, after);
  const tail = commonTail(before, after, head);
  const middle: [string, string] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  const options = { context: CONTEXT_LINES, maxEditLength: MAX_EDIT_LINES };
  const patch =
    structuredPatch(oldName, newName, ...middle, undefined, undefined, options) ??
    wholePatch(oldName, newName, ...middle);
  const skipped = countLines(before.slice(0, head));
  for (const hunk of patch.hunks) {
    hunk.oldStart += skipped;
    hunk.newStart += skipped;
  }
  return patch;
}

/** Everything goes, everything comes. */
function wholePatch(oldName: string, newName: string, before: string, after: string): StructuredPatch {
  const [removed] = structuredPatch(oldName, newName, before, '').hunks;
  const [added] = structuredPatch(oldName, newName, '', after).hunks;
  const lines = [...(removed?.lines ?? []), ...(added?.lines ?? [])];
  const hunk = { oldStart: 1, oldLines: removed?.oldLines ?? 0, newStart: 1, newLines: added?.newLines ?? 0, lines };
  return { oldFileName: oldName, newFileName: newName, oldHeader: undefined, newHeader: undefined, hunks: [hunk] };
}

/** Length of the lines that both begin with, less the lines of context. */
function commonHead(before: string, after: string): number {
  const most = Math.min(before.length, after.length);
  let at = 0;
  while (at < most && before.charCodeAt(at) === after.charCodeAt(at)) at++;
  at = lineStart(before, at);
  for (let line = 0; line < CONTEXT_LINES; line++) at = lineStart(before, at - 1);
  return at;
}

/** Length of the whole lines that both end with, less the lines of context; never reaches into `head`. */
function commonTail(before: string, after: string, head: number): number {
  const most = Math.min(before.length, after.length) - head;
  let length = 0;
  while (
    length < most &&
    before.charCodeAt(before.length - 1 - length) === after.charCodeAt(after.length - 1 - length)
  ) {
    length++;
  }
  let start = before.length - length;
  // The first line of the common end may be half a line; the lines after it are context.
  for (let line = 0; line <= CONTEXT_LINES && start < before.length; line++) {
    const feed = before.indexOf('\n', start);
    start = feed < 0 ? before.length : feed + 1;
  }
  return before.length - start;
}

function lineStart(text: string, at: number): number {
  return at <= 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

/** Cuts after the last whole line that fits, and says how many lines are left out. */
export function cutLines(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const end = text.lastIndexOf('\n', maxChars - 1) + 1;
  const kept = end > 0 ? text.slice(0, end) : `${text.slice(0, maxChars)}\n`;
  return `${kept}(cut here; ${countLines(text.slice(kept.length - (end > 0 ? 0 : 1)))} more lines)`;
}

function countLines(text: string): number {
  if (text === '') return 0;
  const breaks = text.split('\n').length;
  return text.endsWith('\n') ? breaks - 1 : breaks;
}

function isAllCrlf(text: string): boolean {
  return text.includes('\r\n') && !/(?<!\r)\n/.test(text);
}

import { structuredPatch } from 'diff';
import { visible } from './visible.js';

export interface UnifiedDiff {
  /** Unified diff with three lines of context; control characters are made visible. */
  text: string;
  added: number;
  removed: number;
}

const CONTEXT_LINES = 3;
/** Bounds of the part in which single changes are looked for; beyond them it is shown as removed and added whole. */
const MAX_COMPARED_LINES = 100_000;
const MAX_COMPARED_CHARS = 2_000_000;
/** Longest edit script looked for, and the time for it, in ms. */
const MAX_EDIT_LINES = 1500;
const MAX_COMPARE_MS = 100;

/** What lies between the first and the last difference. Offsets are those of line starts. */
interface Changed {
  before: string;
  after: string;
  /** Where the difference begins, in both. */
  start: number;
  beforeEnd: number;
  afterEnd: number;
  /** `start`, and `beforeEnd`, moved by the lines of context. */
  contextStart: number;
  contextEnd: number;
}

/**
 * Diff of one file, for reading. It is cut at a line so that it stays within `maxChars`, and says so. The time grows
 * with the length of the texts only.
 *
 * @param before undefined for a new file
 */
export function unifiedDiff(display: string, before: string | undefined, after: string, maxChars: number): UnifiedDiff {
  const name = display.replaceAll('\n', '\u240a');
  const head = `--- ${before === undefined ? '/dev/null' : `a/${name}`}\n+++ b/${name}\n`;
  if ((before ?? '') === after) return { text: head, added: 0, removed: 0 };
  const changed = findChanged(before ?? '', after);
  return compared(changed, head, maxChars) ?? replaced(changed, head, maxChars);
}

function findChanged(before: string, after: string): Changed {
  const start = lineStart(before, commonHead(before, after));
  const tail = commonTail(before, after, start);
  let [contextStart, contextEnd] = [start, before.length - tail];
  for (let line = 0; line < CONTEXT_LINES; line++) {
    contextStart = lineStart(before, contextStart - 1);
    contextEnd = lineEnd(before, contextEnd);
  }
  const ends = { beforeEnd: before.length - tail, afterEnd: after.length - tail };
  return { before, after, start, ...ends, contextStart, contextEnd };
}

/** The single changes; undefined when there is too much to compare, or one of the sides is empty. */
function compared(changed: Changed, head: string, maxChars: number): UnifiedDiff | undefined {
  const { before, after, start, beforeEnd, afterEnd, contextStart, contextEnd } = changed;
  if (start === beforeEnd || start === afterEnd) return undefined;
  const afterContextEnd = afterEnd + contextEnd - beforeEnd;
  const chars = contextEnd + afterContextEnd - 2 * contextStart;
  if (chars > MAX_COMPARED_CHARS) return undefined;
  const lines = countLines(before, start, beforeEnd) + countLines(after, start, afterEnd);
  if (lines > MAX_COMPARED_LINES) return undefined;
  const texts = [before.slice(contextStart, contextEnd), after.slice(contextStart, afterContextEnd)];
  const crlf = texts.every((text) => !hasBareFeed(text, 0, text.length));
  const [old = '', fresh = ''] = crlf ? texts.map((text) => text.replaceAll('\r\n', '\n')) : texts;
  const options = { context: CONTEXT_LINES, maxEditLength: MAX_EDIT_LINES, timeout: MAX_COMPARE_MS };
  const patch = structuredPatch('', '', old, fresh, undefined, undefined, options);
  if (patch === undefined) return undefined;
  const skipped = countLines(before, 0, contextStart);
  const shown = patch.hunks.map((hunk) => {
    const range = rangeOf(hunk.oldStart + skipped, hunk.oldLines, hunk.newStart + skipped, hunk.newLines);
    return `${range}${hunk.lines.join('\n')}\n`;
  });
  const all = patch.hunks.flatMap((hunk) => hunk.lines);
  return {
    text: visibleWithin(head + shown.join(''), maxChars),
    added: all.filter((line) => line.startsWith('+')).length,
    removed: all.filter((line) => line.startsWith('-')).length,
  };
}

/** Everything between the first and the last difference goes and comes; of much of it the beginnings are shown. */
function replaced(changed: Changed, head: string, maxChars: number): UnifiedDiff {
  const { before, after, start, beforeEnd, afterEnd, contextStart, contextEnd } = changed;
  const removed = countLines(before, start, beforeEnd);
  const added = countLines(after, start, afterEnd);
  const around = countLines(before, contextStart, start) + countLines(before, beforeEnd, contextEnd);
  const line = countLines(before, 0, contextStart) + 1;
  const crlf = !hasBareFeed(before, contextStart, contextEnd) && !hasBareFeed(after, start, afterEnd);
  const opening = visible(head) + rangeOf(line, removed + around, line, added + around);
  const room = Math.max(0, maxChars - opening.length);
  // Texts that fit together are shown whole; else each gets at least half of the room that the context leaves.
  const lead = marked(' ', before, contextStart, start, crlf, room >> 3);
  const trail = marked(' ', before, beforeEnd, contextEnd, crlf, room >> 3);
  const left = room - lead.length - trail.length;
  const half = left >> 1;
  const goingShort = marked('-', before, start, beforeEnd, crlf, half);
  const coming = marked('+', after, start, afterEnd, crlf, left - goingShort.length);
  const going = coming.length < half ? marked('-', before, start, beforeEnd, crlf, left - coming.length) : goingShort;
  return { text: opening + lead + going + coming + trail, added, removed };
}

/** Lines with a mark before each, as many as fit, and how many do not. */
function marked(mark: string, text: string, from: number, to: number, crlf: boolean, room: number): string {
  const pieces: string[] = [];
  let left = room;
  for (let at = from; at < to; ) {
    const end = lineEnd(text, at);
    const whole = end - at <= left;
    const shown = whole ? visible(text.slice(at, textEnd(text, at, end, crlf))) : '';
    const missing = text[end - 1] === '\n' ? '' : '\\ No newline at end of file\n';
    if (!whole || shown.length + 2 > left) {
      if (pieces.length === 0 && left > 1) pieces.push(`${mark}${visible(text.slice(at, at + left)).slice(0, left)}\n`);
      pieces.push(`(cut here; ${countLines(text, at, to)} more lines)\n`);
      break;
    }
    pieces.push(`${mark}${shown}\n${missing}`);
    left -= shown.length + 2;
    at = end;
  }
  return pieces.join('');
}

function textEnd(text: string, start: number, end: number, crlf: boolean): number {
  if (text[end - 1] !== '\n') return end;
  return crlf && end - 2 >= start && text[end - 2] === '\r' ? end - 2 : end - 1;
}

/** An empty side is given by the line before it. */
function rangeOf(oldStart: number, oldLines: number, newStart: number, newLines: number): string {
  const [old, fresh] = [oldLines === 0 ? oldStart - 1 : oldStart, newLines === 0 ? newStart - 1 : newStart];
  return `@@ -${old},${oldLines} +${fresh},${newLines} @@\n`;
}

/** Length of the text that both begin with. */
function commonHead(before: string, after: string): number {
  const most = Math.min(before.length, after.length);
  let at = 0;
  while (at < most && before.charCodeAt(at) === after.charCodeAt(at)) at++;
  return at;
}

/** Length of the whole lines that both end with; never reaches into the first `head` characters. */
function commonTail(before: string, after: string, head: number): number {
  const most = Math.min(before.length, after.length) - head;
  let length = 0;
  let [at, other] = [before.length - 1, after.length - 1];
  while (length < most && before.charCodeAt(at) === after.charCodeAt(other)) {
    length++;
    at--;
    other--;
  }
  const start = before.length - length;
  if (lineStart(before, start) === start && lineStart(after, other + 1) === other + 1) return length;
  return before.length - lineEnd(before, start);
}

function lineStart(text: string, at: number): number {
  return at <= 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}

/** Behind the line feed of the line that begins, or goes on, at `at`. */
function lineEnd(text: string, at: number): number {
  const feed = text.indexOf('\n', at);
  return feed < 0 ? text.length : feed + 1;
}

/** Makes text visible and cuts it after the last whole line that fits; says how many lines are left out. */
export function visibleWithin(text: string, maxChars: number): string {
  const shown = visible(text.slice(0, maxChars));
  if (text.length <= maxChars && shown.length <= maxChars) return shown;
  const end = shown.lastIndexOf('\n', maxChars - 1) + 1;
  const kept = end > 0 ? shown.slice(0, end) : `${shown.slice(0, maxChars)}\n`;
  const lines = end > 0 ? countLines(kept, 0, kept.length) : 0;
  return `${kept}(cut here; ${countLines(text, 0, text.length) - lines} more lines)`;
}

function countLines(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = from; at < to; at++) if (text.charCodeAt(at) === 10) lines++;
  return to > from && text.charCodeAt(to - 1) !== 10 ? lines + 1 : lines;
}

/** Whether a line feed has no carriage return before it. */
function hasBareFeed(text: string, from: number, to: number): boolean {
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) {
    if (at === 0 || text.charCodeAt(at - 1) !== 13) return true;
  }
  return false;
}

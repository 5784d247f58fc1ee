import type { CommandEnd } from '../runner/attach.js';
import { terminalText } from '../runner/terminal-text.js';

/** Most of a command's output that the model gets, half from the start and half from the end. Characters are UTF-16 units. */
export const MAX_RESULT_LINES = 500;
export const MAX_RESULT_CHARS = 40_000;

type Output = Pick<CommandEnd, 'head' | 'tail' | 'gap' | 'lines' | 'bytes'>;

/** The output as the model gets it, with a line that says how much was left out; '' when nothing was printed. */
export function describeOutput({ head, tail, gap, lines, bytes }: Output): string {
  const whole = tail.length === 0;
  const first = trimEnd(terminalText(head)).split('\n');
  const last = whole ? first : trimEnd(terminalText(fromWholeLine(tail))).split('\n');
  const fits = first.length <= MAX_RESULT_LINES && lengthOf(first) <= MAX_RESULT_CHARS;
  if (whole && fits) return first.join('\n');

  const start = take(first, (line, room) => line.slice(0, wholeUnits(line, room)));
  const end = take(last.toReversed(), (line, room) => line.slice(line.length - wholeEnd(line, room))).toReversed();
  const shown = start.length + end.length;
  const leftOut = whole ? first.length - shown : lines === null ? undefined : lines - shown;
  const note = describeGap(
    leftOut,
    whole ? lengthOf(first) - lengthOf(start) - lengthOf(end) : Math.max(gap, bytes - 2 * HALF_CHARS),
  );
  return [...start, note, ...end].join('\n');
}

const HALF_LINES = MAX_RESULT_LINES / 2;
const HALF_CHARS = MAX_RESULT_CHARS / 2;

/** Whole lines as far as they fit; of a first line that does not fit, a part. */
function take(lines: string[], part: (line: string, room: number) => string): string[] {
  const taken: string[] = [];
  let room = HALF_CHARS;
  for (const line of lines.slice(0, HALF_LINES)) {
    if (line.length + 1 > room) {
      if (taken.length === 0) taken.push(part(line, room));
      break;
    }
    taken.push(line);
    room -= line.length + 1;
  }
  return taken;
}

function describeGap(lines: number | undefined, size: number): string {
  if (lines === undefined) return '[... the middle of the output is left out ...]';
  if (lines > 0) return `[... ${lines.toLocaleString('en')} ${lines === 1 ? 'line' : 'lines'} left out ...]`;
  return `[... about ${size.toLocaleString('en')} characters of long lines left out ...]`;
}

/** At most `max` units from the start, no half character. */
function wholeUnits(text: string, max: number): number {
  return /[\ud800-\udbff]/.test(text.charAt(max - 1)) ? max - 1 : max;
}

function wholeEnd(text: string, max: number): number {
  return /[\udc00-\udfff]/.test(text.charAt(text.length - max)) ? max - 1 : max;
}

function lengthOf(lines: string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '\n') end--;
  return text.slice(0, end);
}

/** Drops the line, or at least the character, in which the kept end of the output begins. */
function fromWholeLine(tail: Buffer): Buffer {
  const newline = tail.subarray(0, 4096).indexOf(10);
  if (newline >= 0) return tail.subarray(newline + 1);
  let start = 0;
  while (start < 4 && ((tail[start] ?? 0) & 0xc0) === 0x80) start++;
  return tail.subarray(start);
}

import type { Paint } from './io.js';
import { count } from './text.js';

/**
 * A unified diff of one file in colours. Of a long one the beginning and the end are shown.
 *
 * @param text safe for a terminal
 * @param more where all of it can be seen
 */
export function diffLines(text: string, paint: Paint, maxLines: number, more: string): string[] {
  const lines = text.split('\n');
  const [from = '', to = ''] = lines;
  const isDiff = from.startsWith('--- ') && to.startsWith('+++ ');
  if (!isDiff) return shortened(text, paint, maxLines, more);
  const painted = lines.map((line, i) => (i < 2 ? paint('bold', line) : paintLine(line, paint)));
  if (lines.length > 2) return cutInMiddle(painted, paint, maxLines, more);
  return [...painted, paint('dim', from.startsWith('--- /dev/null') ? '(an empty file)' : '(no change)')];
}

/** Any text, cut in the middle when it is long. */
export function shortened(text: string, paint: Paint, maxLines: number, more: string): string[] {
  return cutInMiddle(text.split('\n'), paint, maxLines, more);
}

/** `+3 -1`. */
export function changeStat({ added, removed }: { added: number; removed: number }): string {
  return `+${added} -${removed}`;
}

function cutInMiddle(lines: readonly string[], paint: Paint, maxLines: number, more: string): string[] {
  if (lines.length <= maxLines) return [...lines];
  const tail = Math.floor(maxLines / 3);
  const head = maxLines - tail - 1;
  const note = `… ${count(lines.length - head - tail, 'line')} not shown here: ${more}`;
  return [...lines.slice(0, head), paint('dim', note), ...(tail > 0 ? lines.slice(-tail) : [])];
}

function paintLine(line: string, paint: Paint): string {
  if (line.startsWith('+')) return paint('green', line);
  if (line.startsWith('-')) return paint('red', line);
  return line.startsWith('@@') ? paint('cyan', line) : line;
}

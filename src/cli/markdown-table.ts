import { Flow, type Span } from './flow.js';
import type { Paint } from './io.js';
import { inline } from './markdown-inline.js';
import { displayWidth, pad } from './text.js';

const GAP = '  ';
/** Columns are not made narrower than this. */
const NARROWEST = 8;
const DELIMITERS = /^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

type Cell = Span[];

/** A line that looks like a row of a table. */
export function isTableLine(line: string): boolean {
  return line.trimStart().startsWith('|');
}

/** Lays a table out; one that is too wide for the screen wraps its cells, or becomes a list of its rows. */
export function renderTable(lines: readonly string[], width: number, paint: Paint): string[] {
  const [head = '', delimiters = '', ...body] = lines;
  if (!DELIMITERS.test(delimiters.trim()) || !delimiters.includes('-')) {
    return lines.map((line) => laidOut(inline(line, true, paint).spans, width).join('\n'));
  }
  const cells = [head, ...body].map((line) => cellsOf(line).map((cell) => inline(cell, true, paint).spans));
  const count = Math.max(...cells.map((row) => row.length));
  const rows = cells.map((row) => Array.from({ length: count }, (_, i) => row[i] ?? []));
  const right = cellsOf(delimiters).map((cell) => cell.endsWith(':') && !cell.startsWith(':'));
  const [header = [], ...rest] = rows;
  const titles = header.map((cell) => bold(cell, paint));
  const widths = fittingWidths(rows, width);
  if (!widths) return asList(titles, rest, width, paint);
  const rule = paint('dim', '─'.repeat(widths.reduce((sum, one) => sum + one, GAP.length * (count - 1))));
  const lay = (row: Cell[]) => layRow(row, widths, right);
  return [...lay(titles), rule, ...rest.flatMap(lay)];
}

function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  const cells = [''];
  // a bar in code, or behind a backslash, belongs to its cell
  for (const part of inner.match(/\\.|(`+)(?:(?!\1).)*\1|[^|]|\|/gs) ?? []) {
    if (part === '|') cells.push('');
    else cells.push((cells.pop() ?? '') + (part === '\\|' ? '|' : part));
  }
  return cells.map((cell) => cell.trim());
}

/** Columns as wide as their content, or narrowed until they fit; undefined when they cannot be. */
function fittingWidths(rows: Cell[][], width: number): number[] | undefined {
  const natural = columnMaxima(rows, spansWidth);
  const least = columnMaxima(rows, longestWord).map((word, i) => Math.min(natural[i] ?? 0, Math.max(word, NARROWEST)));
  const room = width - GAP.length * (natural.length - 1);
  const sum = (all: number[]) => all.reduce((total, one) => total + one, 0);
  if (sum(least) > room) return undefined;
  const widths = [...natural];
  while (sum(widths) > room) {
    const slack = widths.map((one, i) => (one > (least[i] ?? 0) ? one : 0));
    const widest = slack.indexOf(Math.max(...slack));
    widths[widest] = (widths[widest] ?? 1) - 1;
  }
  return widths;
}

function columnMaxima(rows: Cell[][], measure: (cell: Cell) => number): number[] {
  return (rows[0] ?? []).map((_, i) => Math.max(1, ...rows.map((row) => measure(row[i] ?? []))));
}

function layRow(row: Cell[], widths: number[], right: boolean[]): string[] {
  const columns = row.map((cell, i) => laidOut(cell, widths[i] ?? 1));
  const height = Math.max(...columns.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) => {
    const parts = columns.map((lines, i) => aligned(lines[line] ?? '', widths[i] ?? 1, right[i] ?? false));
    return parts.join(GAP).trimEnd();
  });
}

function asList(titles: Cell[], rows: Cell[][], width: number, paint: Paint): string[] {
  return rows.flatMap((row, at) => {
    const lines = row.flatMap((cell, i) => {
      const title = titles[i] ?? [];
      if (spansWidth(cell) === 0) return [];
      const colon = spansWidth(title) === 0 ? [] : [...title, { text: ': ' }];
      return laidOut([...colon, ...cell], width, GAP);
    });
    return at === 0 ? lines : [paint('dim', '·'), ...lines];
  });
}

function laidOut(spans: Span[], width: number, hang = ''): string[] {
  const flow = new Flow(() => width);
  flow.open('', hang);
  return (spans.map((span) => flow.add(span)).join('') + flow.endLine()).slice(0, -1).split('\n');
}

function aligned(text: string, width: number, right: boolean): string {
  return right ? ' '.repeat(Math.max(0, width - displayWidth(text))) + text : pad(text, width);
}

function bold(cell: Cell, paint: Paint): Cell {
  return cell.map(({ style, ...span }) => ({ ...span, style: (part) => paint('bold', style?.(part) ?? part) }));
}

function spansWidth(cell: Cell): number {
  return cell.reduce((sum, { text }) => sum + displayWidth(text), 0);
}

function longestWord(cell: Cell): number {
  const words = cell.flatMap(({ text, whole }) => (whole ? [text] : text.split(/\s+/)));
  return Math.max(
    0,
    ...words.map((word) => (/^[\x20-\x7e]*$/.test(word) ? word.length : Math.min(NARROWEST, displayWidth(word)))),
  );
}

/** A cell: a number is rounded for Markdown and whole in JSON. */
export type Cell = string | number;

export interface Table {
  title: string;
  columns: string[];
  rows: Cell[][];
}

/** What the figures should be. A missed aim is said, and is no failure: machines differ. */
export interface Aim {
  aim: string;
  measured: number;
  /** `measured` is at most this. */
  most: number;
  unit: string;
}

export interface Report {
  tables: Table[];
  aims: Aim[];
  /** How to read them. */
  notes?: string[];
}

export type Taken = Record<string, string>;

/** Thrown when the figures would say nothing: a task failed, a result is wrong. */
export class BenchFailed extends Error {
  override readonly name = 'BenchFailed';
}

/** @throws BenchFailed */
export function check(holds: boolean, message: string): asserts holds {
  if (!holds) throw new BenchFailed(message);
}

/** Ready to be pasted into docs/benchmarks.md. */
export function markdown(name: string, taken: Taken, { tables, aims, notes = [] }: Report): string {
  const parts = [`### ${name}`];
  if (aims.length > 0) parts.push(tableText({ title: '', columns: ['aim', 'measured', ''], rows: aims.map(aimRow) }));
  for (const table of tables) parts.push(`**${table.title}**`, tableText(table));
  if (notes.length > 0) parts.push(notes.map((note) => `- ${note}`).join('\n'));
  const how = Object.entries(taken).map(([what, value]) => `${what} ${value}`);
  parts.push(`Taken: ${how.join('; ')}.`);
  return parts.join('\n\n');
}

function aimRow({ aim, measured, most, unit }: Aim): Cell[] {
  return [aim, `${shown(measured)}${unit === '' ? '' : ` ${unit}`}`, measured <= most ? 'met' : 'missed'];
}

function tableText({ columns, rows }: Table): string {
  const cells = [columns, ...rows.map((row) => row.map(shown))];
  const widths = columns.map((_, at) => Math.max(3, ...cells.map((row) => (row[at] ?? '').length)));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, at) => pad(row[at] ?? '', width, at)).join(' | ')} |`;
  const rule = `|${widths.map((width, at) => (at === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(columns), rule, ...cells.slice(1).map(line)].join('\n');
}

const pad = (text: string, width: number, at: number) => (at === 0 ? text.padEnd(width) : text.padStart(width));

function shown(cell: Cell): string {
  if (typeof cell === 'string') return cell;
  if (!Number.isFinite(cell)) return '–';
  const digits = Number.isInteger(cell) || Math.abs(cell) >= 100 ? 0 : Math.abs(cell) >= 10 ? 1 : 2;
  return cell.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits });
}

import type { Usage } from '../domain/usage.js';

/** Terminal columns of a text without controls: wide East Asian characters and emoji count two, combining marks none. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) width += charWidth(char.codePointAt(0) ?? 0);
  return width;
}

/** Cuts to `max` columns, never inside a character, and shows the cut. */
export function fitTo(text: string, max: number): string {
  if (displayWidth(text) <= max) return text;
  let width = 0;
  let kept = '';
  for (const char of text) {
    width += charWidth(char.codePointAt(0) ?? 0);
    if (width > max - 1) break;
    kept += char;
  }
  return `${kept}…`;
}

export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/** Columns as wide as their content; the last one gets what is left of `width`. */
export function table(rows: readonly (readonly string[])[], width: number): string[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: count }, (_, i) => Math.max(...rows.map((row) => displayWidth(row[i] ?? ''))));
  return rows.map((row) => {
    const fixed = row.slice(0, -1).map((cell, i) => pad(cell, widths[i] ?? 0));
    const used = fixed.reduce((sum, cell) => sum + displayWidth(cell) + 2, 0);
    return [...fixed, fitTo(row.at(-1) ?? '', Math.max(10, width - used))].join('  ').trimEnd();
  });
}

/** `850 ms`, `12.3 s`, `4 min 5 s`, `3 h 20 min`, `2 d 4 h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return join(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  const minutes = Math.round(seconds / 60);
  if (minutes < 24 * 60) return join(Math.floor(minutes / 60), 'h', minutes % 60, 'min');
  const hours = Math.round(minutes / 60);
  return join(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

/** Local date and time, `2026-01-02 23:41:07`. @param ms since the epoch */
export function dateTime(ms: number): string {
  const at = new Date(ms);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(ms)}`;
}

/** Local time, `23:41:07`. @param ms since the epoch */
export function clock(ms: number): string {
  const at = new Date(ms);
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':');
}

export function money(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}

/** `12,345 tokens in (80 % from cache), 678 out`. */
export function tokens(usage: Usage): string {
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const cached = input > 0 && usage.cacheReadTokens > 0 ? Math.floor((100 * usage.cacheReadTokens) / input) : 0;
  const share = cached > 0 ? ` (${cached} % from cache)` : '';
  return `${input.toLocaleString('en-US')} tokens in${share}, ${usage.outputTokens.toLocaleString('en-US')} out`;
}

function join(big: number, bigUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${big} ${bigUnit}` : `${big} ${bigUnit} ${small} ${smallUnit}`;
}

function charWidth(code: number): number {
  if (code < 0x300) return 1;
  if (within(code, NO_WIDTH)) return 0;
  return within(code, TWO_WIDE) ? 2 : 1;
}

function within(code: number, ranges: readonly (readonly [number, number])[]): boolean {
  return ranges.some(([from, to]) => code >= from && code <= to);
}

const NO_WIDTH = [
  [0x300, 0x36f],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x200b, 0x200f],
  [0x20d0, 0x20ff],
  [0xfe00, 0xfe0f],
  [0xfe20, 0xfe2f],
  [0xe0100, 0xe01ef],
] as const;

const TWO_WIDE = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f900, 0x1f9ff],
  [0x20000, 0x3fffd],
] as const;

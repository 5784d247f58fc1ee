import { eastAsianWidth } from 'get-east-asian-width';
import type { Usage } from '../domain/usage.js';

const GRAPHEMES = new Intl.Segmenter();
const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
/** What makes one character of several code points. */
const CLUSTERS =
  /[\p{M}\p{Join_Control}\p{Regional_Indicator}\p{Emoji_Modifier}\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb\r]/u;
const WINDOW = 500;
/** A character that takes room; the rest of its cluster are marks and joiners on it. */
const VISIBLE = /[^\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Mn}\p{Me}\p{Cs}]/u;
/** Shown as an emoji although its first character alone would be narrow: a flag, a keycap, a heart. */
const EMOJI_CLUSTER = /\ufe0f|^\p{Regional_Indicator}{2}/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the colours that this command writes itself
const COLOURS = /\x1b\[[0-9;]*m/g;

/** Terminal columns of a text, colours not counted: wide East Asian characters and emoji take two, combining marks none. */
export function displayWidth(text: string): number {
  const plain = text.replace(COLOURS, '');
  if (PRINTABLE_ASCII.test(plain)) return plain.length;
  return graphemes(plain).reduce((width, cluster) => width + clusterWidth(cluster), 0);
}

/** The characters as people see them: a letter with its accents, a family of emoji. */
export function graphemes(text: string): string[] {
  if (!CLUSTERS.test(text)) return [...text];
  const found: string[] = [];
  // the segmenter takes quadratic time for one long text
  for (let at = 0; at < text.length; ) {
    const window = Array.from(GRAPHEMES.segment(text.slice(at, at + WINDOW)), ({ segment }) => segment);
    if (at + WINDOW < text.length && window.length > 1) window.pop();
    for (const cluster of window) {
      found.push(cluster);
      at += cluster.length;
    }
  }
  return found;
}

/** Cuts to `max` columns, never inside a character, and shows the cut. */
export function fitTo(text: string, max: number): string {
  if (displayWidth(text) <= max) return text;
  let width = 0;
  let kept = '';
  for (const cluster of graphemes(text)) {
    width += clusterWidth(cluster);
    if (width > max - 1) break;
    kept += cluster;
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

/** The greatest unit of a duration, for lists: `12 s`, `4 min`, `3 h`, `2 d`. */
export function age(ms: number): string {
  const minutes = ms / 60_000;
  if (minutes < 1) return `${Math.floor(Math.max(0, ms) / 1000)} s`;
  if (minutes < 60) return `${Math.floor(minutes)} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
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

/** Terminal columns of one character. */
export function clusterWidth(cluster: string): number {
  const code = VISIBLE.exec(cluster)?.[0].codePointAt(0);
  if (code === undefined) return 0;
  return EMOJI_CLUSTER.test(cluster) ? 2 : eastAsianWidth(code);
}

/** Column behind a line that begins at the left edge, tabs counted as terminals do. */
export function columnAfter(line: string): number {
  const [head = '', ...more] = line.split('\t');
  return more.reduce((at, part) => (Math.floor(at / 8) + 1) * 8 + displayWidth(part), displayWidth(head));
}

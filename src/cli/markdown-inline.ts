import type { Span } from './flow.js';
import type { Paint } from './io.js';

/** Longest emphasis, code or link looked for; what is longer stays as it was written. */
const LONGEST = 1000;
const LINK = /(!?)\[((?:[^[\]\\]|\\.)*)\]\(<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\)/y;
/** What could still become one. */
const OPEN_LINK = /!?\[(?:[^[\]\\]|\\.)*(?:\\|\](?:\([^)]*)?)?$/y;
const AUTOLINK = /<((?:https?:\/\/|mailto:)[^\s<>]+)>/y;
const OPEN_AUTOLINK =
  /<(?:h|ht|htt|https?|https?:\/?|https?:\/\/[^\s<>]*|m|ma|mai|mail|mailt|mailto|mailto:[^\s<>]*)$/y;
const ESCAPED = /\\[*_`[\]#<>|\\]/y;
const SPECIAL = /[`*![<\\]/g;

type Found =
  /** Text of the source that is done, and what it shows. */
  | { length: number; spans: Span[] }
  /** It cannot be told before more has come. */
  | 'open'
  /** Nothing special. */
  | undefined;

interface Place {
  text: string;
  at: number;
  final: boolean;
  paint: Paint;
}

/**
 * Styles the inline marks of one line of Markdown: code, bold, italic, links. Underscores are left alone, as most of them
 * are parts of names, and so is everything that is not surely a mark: no character of code gets lost.
 *
 * @param before what stands before `text` on its line; its last character counts
 * @param final false: the line goes on
 * @returns what can be shown, and the rest, which needs more of the line
 */
export function inline(
  text: string,
  final: boolean,
  paint: Paint,
  before = '',
): { spans: Span[]; done: string; rest: string } {
  const spans: Span[] = [];
  let plain = 0;
  let at = 0;
  const flush = (end: number) => {
    if (end > plain) spans.push({ text: text.slice(plain, end) });
  };
  for (;;) {
    SPECIAL.lastIndex = at;
    const special = SPECIAL.exec(text)?.index ?? text.length;
    if (special === text.length) break;
    at = special;
    const found = mark({ text, at, final, paint }, (text[at - 1] ?? before.at(-1)) || ' ');
    if (found === 'open' && text.length - at <= LONGEST) {
      flush(at);
      return { spans, done: text.slice(0, at), rest: text.slice(at) };
    }
    if (found && found !== 'open') {
      flush(at);
      spans.push(...found.spans);
      at += found.length;
      plain = at;
      // stars and backticks count together, all others for themselves
    } else at += /[*`]/.test(text[at] ?? '') ? runLength(text, at) : 1;
  }
  flush(text.length);
  return { spans, done: text, rest: '' };
}

function mark(place: Place, before: string): Found {
  const { text, at, final } = place;
  switch (text[at]) {
    case '`':
      return code(place);
    case '*':
      return emphasis(place, before);
    case '\\': {
      if (at + 1 === text.length && !final) return 'open';
      return matchAt(ESCAPED, text, at) ? { length: 2, spans: [{ text: text[at + 1] ?? '' }] } : undefined;
    }
    case '<': {
      const url = matchAt(AUTOLINK, text, at);
      if (url) return { length: url[0].length, spans: [linkSpan(url[1] ?? '', place.paint)] };
      return !final && matchAt(OPEN_AUTOLINK, text, at) ? 'open' : undefined;
    }
    default:
      return isWord(before) ? undefined : link(place);
  }
}

function code({ text, at, final, paint }: Place): Found {
  const run = runLength(text, at);
  if (at + run === text.length && !final) return 'open';
  const end = codeEnd(text, at, final);
  if (end === undefined) return final ? undefined : 'open';
  const inner = text.slice(at + run, end - run);
  const padded = /^ .* $/.test(inner) && inner.trim() !== '';
  const span = { text: padded ? inner.slice(1, -1) : inner, style: (part: string) => paint('cyan', part), whole: true };
  return { length: end - at, spans: [span] };
}

/** Behind the code that begins at `at`; undefined when it does not end, or not yet. */
function codeEnd(text: string, at: number, final: boolean): number | undefined {
  const run = runLength(text, at);
  for (let next = text.indexOf('`', at + run); next >= 0 && next - at <= LONGEST; ) {
    const length = runLength(text, next);
    if (!final && next + length === text.length) return undefined;
    if (length === run) return next + run;
    next = text.indexOf('`', next + length);
  }
  return undefined;
}

function emphasis({ text, at, final, paint }: Place, before: string): Found {
  const run = runLength(text, at);
  const next = text[at + run];
  if (next === undefined) return final ? undefined : 'open';
  // `2*3`, `a * b`, `src/*.ts` are no emphasis
  if (run > 3 || /\s/.test(next) || (isWord(before) && isWord(next))) return undefined;
  if (run === 1 && (!/[\s([{"'“‘—–>*]/.test(before) || !/[\p{L}\p{N}`"'“‘([$]/u.test(next))) return undefined;
  const end = emphasisEnd(text, at, run, final);
  if (end === undefined || end === 'open') return end;
  const inner = inline(text.slice(at + run, end - run), true, paint, '*').spans;
  const outer = (part: string) => {
    const slanted = run === 2 ? part : paint('italic', part);
    return run === 1 ? slanted : paint('bold', slanted);
  };
  const spans = inner.map(({ style, ...span }) => ({ ...span, style: (part: string) => outer(style?.(part) ?? part) }));
  return { length: end - at, spans };
}

function emphasisEnd(text: string, at: number, run: number, final: boolean): number | 'open' | undefined {
  const stop = Math.min(text.length, at + LONGEST);
  for (let next = at + run; next < stop; ) {
    const char = text[next];
    if (char === '`') {
      const end = codeEnd(text, next, final);
      if (end === undefined && !final) return 'open';
      next = end ?? next + runLength(text, next);
    } else if (char === '\\') next += 2;
    else if (char === '*') {
      const stars = runLength(text, next);
      if (next + stars === text.length && !final) return 'open';
      const end = next + stars;
      const fits = run === 1 ? stars === 1 || stars === 3 : stars >= run;
      const after = text[end] ?? ' ';
      if (fits && !/\s/.test(text[next - 1] ?? ' ') && !(isWord(after) && (run === 1 || isWord(text[next - 1] ?? ' '))))
        return end;
      next = end;
    } else next++;
  }
  return final || text.length > at + LONGEST ? undefined : 'open';
}

function link({ text, at, final, paint }: Place): Found {
  const found = matchAt(LINK, text, at);
  if (!found) return !final && (matchAt(OPEN_LINK, text, at) || text.slice(at) === '!') ? 'open' : undefined;
  const [all, image = '', label = '', url = ''] = found;
  if (url === '') return undefined;
  const shown = inline(label, true, paint).spans;
  const plain = shown.map((span) => span.text).join('');
  const length = all.length;
  if (plain === '' || plain === url) return { length, spans: [linkSpan(url, paint)] };
  const name = shown.map(({ style, ...span }) => ({
    ...span,
    style: (part: string) => paint('underline', style?.(part) ?? part),
  }));
  const target = { text: `(${url})`, style: (part: string) => paint('dim', part), whole: true };
  return { length, spans: [...(image ? [{ text: 'image: ' }] : []), ...name, { text: ' ' }, target] };
}

function linkSpan(url: string, paint: Paint): Span {
  return { text: url, style: (part) => paint('underline', part), whole: true };
}

/** Letters and digits of names, not of languages that are written without spaces. */
function isWord(char: string): boolean {
  return /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}_]/u.test(char);
}

/** How often the character at `at` is repeated. */
function runLength(text: string, at: number): number {
  let end = at + 1;
  while (text[end] === text[at]) end++;
  return end - at;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

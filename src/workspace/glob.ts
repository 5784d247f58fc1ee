/** Characters from `from` to `to`, both included. */
type Range = readonly [from: number, to: number];

type Piece =
  | { kind: 'char'; code: number }
  | { kind: 'any' }
  | { kind: 'star' }
  | { kind: 'set'; negated: boolean; ranges: Range[] };

/** Pieces for one name of a path; `'**'` stands for any number of names. */
type Part = { pieces: Piece[]; least: number } | '**';

/** A glob as in ignore files, ready to be matched. */
export interface Glob {
  parts: Part[];
  /** Matched against the last name of a path only. */
  nameOnly: boolean;
}

const SLASH = 0x2f;
const BACKSLASH = 0x5c;
const CLASSES: Readonly<Record<string, Range[]>> = {
  alnum: pairs('09AZaz'),
  alpha: pairs('AZaz'),
  blank: pairs('  \t\t'),
  cntrl: pairs('\0\x1f\x7f\x7f'),
  digit: pairs('09'),
  graph: pairs('!~'),
  lower: pairs('az'),
  print: pairs(' ~'),
  punct: pairs('!/:@[`{~'),
  space: pairs('\t\r  '),
  upper: pairs('AZ'),
  xdigit: pairs('09AFaf'),
};

/**
 * Reads a glob with the meaning that git gives it: `*` and `?` stay inside a name, `**` between slashes spans names.
 *
 * @param glob without the marks of an ignore line: `!`, and a slash at its end
 * @returns undefined when it can match nothing, such as for a bracket that is not closed
 */
export function parseGlob(glob: string): Glob | undefined {
  const nameOnly = !glob.includes('/');
  const codes = Array.from(glob.startsWith('/') ? glob.slice(1) : glob, (char) => char.codePointAt(0) ?? 0);
  const names: Piece[][] = [[]];
  for (let at = 0; at < codes.length; ) {
    const code = codes[at] ?? 0;
    const slash = code === BACKSLASH && codes[at + 1] === SLASH ? 2 : code === SLASH ? 1 : 0;
    if (slash > 0) {
      names.push([]);
      at += slash;
      continue;
    }
    const read = readPiece(codes, at);
    if (read === undefined) return undefined;
    names.at(-1)?.push(read.piece);
    at = read.next;
  }
  return { parts: nameOnly ? names.map(partOf) : names.flatMap(spanning), nameOnly };
}

/** Two stars or more that are a whole name span names; at the end they need at least one. */
function spanning(pieces: Piece[], at: number, names: Piece[][]): Part[] {
  if (pieces.length < 2 || pieces.some((piece) => piece.kind !== 'star')) return [partOf(pieces)];
  return at < names.length - 1 ? ['**'] : ['**', partOf([{ kind: 'star' }])];
}

function partOf(pieces: Piece[]): Part {
  return { pieces, least: pieces.filter((piece) => piece.kind !== 'star').length };
}

function readPiece(codes: number[], at: number): { piece: Piece; next: number } | undefined {
  const code = codes[at] ?? 0;
  switch (String.fromCodePoint(code)) {
    case '*':
      return { piece: { kind: 'star' }, next: at + 1 };
    case '?':
      return { piece: { kind: 'any' }, next: at + 1 };
    case '[':
      return readSet(codes, at + 1);
    case '\\': {
      const escaped = codes[at + 1];
      return escaped === undefined ? undefined : { piece: { kind: 'char', code: escaped }, next: at + 2 };
    }
    default:
      return { piece: { kind: 'char', code }, next: at + 1 };
  }
}

function readSet(codes: number[], start: number): { piece: Piece; next: number } | undefined {
  const negated = isChar(codes[start], '!') || isChar(codes[start], '^');
  const ranges: Range[] = [];
  let at = negated ? start + 1 : start;
  for (let first = true; first || !isChar(codes[at], ']'); first = false) {
    if (codes[at] === undefined) return undefined;
    const named = isChar(codes[at], '[') && isChar(codes[at + 1], ':') ? readClass(codes, at + 2) : 'none';
    if (named === undefined) return undefined;
    if (named !== 'none') {
      ranges.push(...named.ranges);
      at = named.next;
      continue;
    }
    const from = readMember(codes, at);
    if (from === undefined) return undefined;
    at = from.next;
    const isRange = isChar(codes[at], '-') && codes[at + 1] !== undefined && !isChar(codes[at + 1], ']');
    const to = isRange ? readMember(codes, at + 1) : from;
    if (to === undefined) return undefined;
    at = to.next;
    ranges.push([from.code, to.code]);
  }
  return { piece: { kind: 'set', negated, ranges }, next: at + 1 };
}

/** A class such as `[:alpha:]`; 'none' when there is none after all; undefined when its name is unknown. */
function readClass(codes: number[], start: number): { ranges: Range[]; next: number } | 'none' | undefined {
  let end = start;
  while (codes[end] !== undefined && !isChar(codes[end], ']')) end++;
  if (codes[end] === undefined) return undefined;
  if (end === start || !isChar(codes[end - 1], ':')) return 'none';
  const ranges = CLASSES[String.fromCodePoint(...codes.slice(start, Math.min(end - 1, start + 10)))];
  return ranges && { ranges, next: end + 1 };
}

function readMember(codes: number[], at: number): { code: number; next: number } | undefined {
  const escaped = codes[at] === BACKSLASH ? 1 : 0;
  const code = codes[at + escaped];
  return code === undefined ? undefined : { code, next: at + escaped + 1 };
}

/**
 * Matches without search trees: after a mismatch only the last star gives way, which is enough for globs. The time is at
 * most the product of both lengths.
 *
 * @param path names with `/` between them
 */
export function matchesGlob(glob: Glob, path: string): boolean {
  const names = (glob.nameOnly ? path.slice(path.lastIndexOf('/') + 1) : path).split('/');
  return matchAll(
    glob.parts,
    names,
    (part) => part === '**',
    (part, name) => part !== '**' && matchesName(part, name),
  );
}

function matchesName(part: Exclude<Part, '**'>, name: string): boolean {
  if (name.length < part.least) return false;
  const codes = Array.from(name, (char) => char.codePointAt(0) ?? 0);
  return matchAll(part.pieces, codes, (piece) => piece.kind === 'star', matchesCode);
}

/** Whether `pattern` covers `items`; a star of the pattern takes any number of items, all else exactly one. */
function matchAll<P, T>(
  pattern: readonly P[],
  items: readonly T[],
  isStar: (element: P) => boolean,
  matches: (element: P, item: T) => boolean,
): boolean {
  let [element, item] = [0, 0];
  let [star, taken] = [-1, 0];
  while (item < items.length) {
    const now = pattern[element];
    if (now !== undefined && isStar(now)) {
      star = element++;
      taken = item;
    } else if (now !== undefined && matches(now, items[item] as T)) {
      element++;
      item++;
    } else if (star >= 0) {
      element = star + 1;
      item = ++taken;
    } else return false;
  }
  while (element < pattern.length && isStar(pattern[element] as P)) element++;
  return element === pattern.length;
}

function matchesCode(piece: Piece, code: number): boolean {
  switch (piece.kind) {
    case 'char':
      return piece.code === code;
    case 'set':
      return piece.ranges.some(([from, to]) => from <= code && code <= to) !== piece.negated;
    case 'any':
    case 'star':
      return true;
  }
}

function isChar(code: number | undefined, char: string): boolean {
  return code === char.charCodeAt(0);
}

function pairs(ends: string): Range[] {
  return Array.from({ length: ends.length / 2 }, (_, at) => [ends.charCodeAt(2 * at), ends.charCodeAt(2 * at + 1)]);
}

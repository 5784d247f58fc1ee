import { homedir } from 'node:os';
import type { DoubleQuotedChild, Word, WordPart } from 'unbash';

/** What is known of an argument before the shell expands it. */
export interface Argument {
  /** As it is written. */
  text: string;
  /** What the command gets; absent when that is not known, or is the names of the files that match `pattern`. */
  value?: string;
  /** What it certainly begins with. */
  prefix: string;
  /** It is certainly one argument, not none and not several. */
  single: boolean;
  /** Not known, but a file under that name, whichever it is: `<(…)`, or what `find` or `xargs` puts there. */
  stands?: 'process' | 'found' | 'anything';
  /** For names of files: `*` and `?`, with `\` before characters that stand for themselves. */
  pattern?: string;
}

type Piece = { text: string } | { glob: '*' | '?' } | { unknown: 'one' | 'some' } | { choice: string[] };

/** Arguments that one word of braces stands for, at most. */
const MAX_CHOICES = 64;

/** An argument that is exactly this text. */
export function literal(value: string): Argument {
  return { text: value, value, prefix: value, single: true };
}

/** What is not known at all, such as what `xargs` adds. */
export function unknownArgument(text: string): Argument {
  return { text, prefix: '', single: false };
}

/** The arguments that a word stands for: several for `{a,b}`. */
export function argumentsOf(word: Word): Argument[] {
  const { text } = word;
  if (word.parts?.length === 1 && word.parts[0]?.type === 'ProcessSubstitution' && word.parts[0].operator === '<') {
    return [{ text, prefix: '/dev/fd/', single: true, stands: 'process' }];
  }
  if (/[=:]~/.test(text)) return [unknownArgument(text)];
  const pieces = word.parts ? word.parts.flatMap(piecesOf) : plainPieces(text, word.value);
  if (text.startsWith('~')) {
    const [first] = pieces;
    if (!/^~(\/|$)/.test(text) || !first || !('text' in first)) return [unknownArgument(text)];
    pieces[0] = { text: homedir() + first.text.slice(1) };
  }
  const lists = combine(pieces);
  return lists ? lists.map((list) => argumentOf(text, list)) : [unknownArgument(text)];
}

/** Every choice of braces made; undefined when there are too many. */
function combine(pieces: Piece[]): Exclude<Piece, { choice: string[] }>[][] | undefined {
  let lists: Exclude<Piece, { choice: string[] }>[][] = [[]];
  for (const piece of pieces) {
    const options = 'choice' in piece ? piece.choice.map((text) => ({ text })) : [piece];
    lists = lists.flatMap((list) => options.map((option) => [...list, option]));
    if (lists.length > MAX_CHOICES) return undefined;
  }
  return lists;
}

function argumentOf(text: string, pieces: Exclude<Piece, { choice: string[] }>[]): Argument {
  const isKnown = pieces.every((piece) => 'text' in piece);
  const cut = pieces.findIndex((piece) => !('text' in piece));
  const known = cut === -1 ? pieces : pieces.slice(0, cut);
  const prefix = known.map((piece) => ('text' in piece ? piece.text : '')).join('');
  if (isKnown) return { text, value: prefix, prefix, single: true };
  if (pieces.some((piece) => 'unknown' in piece)) {
    return {
      text,
      prefix,
      single: !pieces.some((piece) => 'glob' in piece || ('unknown' in piece && piece.unknown === 'some')),
    };
  }
  const pattern = pieces
    .map((piece) => ('text' in piece ? escaped(piece.text) : 'glob' in piece ? piece.glob : ''))
    .join('');
  return { text, prefix, single: false, pattern };
}

function escaped(text: string): string {
  return text.replace(/[\\*?[\]]/g, '\\$&');
}

/** A word without quotes and expansions; what the grammar may see otherwise than bash counts as not known. */
function plainPieces(text: string, value: string): Piece[] {
  return [mayExpand(text) ? { unknown: 'some' } : { text: value }];
}

function mayExpand(text: string): boolean {
  const bare = text.replace(/\\[\s\S]/g, '');
  return /[*?`$]|\[.*\]/s.test(bare) || (/\{/.test(bare) && /,|\.\./.test(bare));
}

function piecesOf(part: WordPart): Piece[] {
  switch (part.type) {
    case 'Literal':
      return plainPieces(part.text, part.value);
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [{ text: part.value }];
    case 'DoubleQuoted':
      return part.parts.map(quotedPiece);
    case 'Glob':
      return [{ glob: part.kind === 'star' ? '*' : '?' }];
    case 'BraceExpansion':
      return [braces(part.text)];
    case 'LocaleString':
    case 'ProcessSubstitution':
      return [{ unknown: 'one' }];
    case 'ArithmeticExpansion':
    case 'SimpleExpansion':
    case 'ParameterExpansion':
    case 'CommandExpansion':
    case 'ExtendedGlob':
      return [{ unknown: 'some' }];
  }
}

/** Between double quotes nothing is split, but `"$@"` and its like are any number of arguments. */
function quotedPiece(part: DoubleQuotedChild): Piece {
  if (part.type === 'Literal') return { text: part.value };
  const isList = part.type !== 'CommandExpansion' && part.type !== 'ArithmeticExpansion' && part.text.includes('@');
  return { unknown: isList ? 'some' : 'one' };
}

function braces(text: string): Piece {
  const inner = text.slice(1, -1);
  if (/[{}"'\\$`*?[\]~]|\.\./.test(inner) || !inner.includes(',')) return { unknown: 'some' };
  const choice = inner.split(',');
  // an empty word is no argument at all
  return choice.includes('') ? { unknown: 'some' } : { choice };
}

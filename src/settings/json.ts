import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

/** JSON with comments and trailing commas, and where in the text each of its values stands. */
export interface LocatedJson {
  value: unknown;
  /** Offset of the value at a path; of the key itself where `key` names one of that object. */
  offsetOf(path: readonly PropertyKey[], key?: string): number;
}

/** Why a text is no JSON, and at which offset. */
export interface JsonProblem {
  offset: number;
  message: string;
}

/** Reads JSON with comments and trailing commas. A key that is given twice is an error: which one counts would be a guess. */
export function readJson(text: string): LocatedJson | JsonProblem {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true });
    const [first] = errors;
    if (first) return { offset: first.offset, message: words(printParseErrorCode(first.error)) };
    if (!root) return { offset: 0, message: 'there is no value' };
    const twice = repeatedKey(root);
    if (twice) return { offset: twice.offset, message: `"${String(twice.value)}" is given twice` };
    const value = plain(root);
    const top = root;
    return { value, offsetOf: (path, key) => find(top, path, key).offset };
  } catch (err) {
    // the parser goes down one call a level
    if (err instanceof RangeError) return { offset: 0, message: 'it is nested too deeply' };
    throw err;
  }
}

/** Line and column of an offset, both from 1; the column in UTF-16 units. */
export function placeOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** As `JSON.parse` makes it: a key `__proto__` is a key like any other. */
function plain(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(plain);
  if (node.type !== 'object') return node.value;
  return Object.fromEntries(properties(node).map(([key, value]) => [key.value as string, value && plain(value)]));
}

function properties(node: Node): [key: Node, value: Node | undefined][] {
  return (node.children ?? []).flatMap(({ children: [key, value] = [] }) => (key ? [[key, value]] : []));
}

function repeatedKey(node: Node): Node | undefined {
  const seen = new Set<unknown>();
  for (const [key] of node.type === 'object' ? properties(node) : []) {
    if (seen.has(key.value)) return key;
    seen.add(key.value);
  }
  for (const child of node.children ?? []) {
    const found = repeatedKey(child);
    if (found) return found;
  }
  return undefined;
}

function find(root: Node, path: readonly PropertyKey[], key?: string): Node {
  let node = root;
  for (const part of path) {
    const next =
      typeof part === 'number' ? node.children?.[part] : properties(node).find(([name]) => name.value === part)?.[1];
    if (!next) return node;
    node = next;
  }
  if (key === undefined) return node;
  return properties(node).find(([name]) => name.value === key)?.[0] ?? node;
}

/** @param code name of the parser's error */
function words(code: string): string {
  switch (code) {
    case 'PropertyNameExpected':
      return 'a key in double quotes is missing';
    case 'ValueExpected':
      return 'a value is missing';
    case 'ColonExpected':
      return 'a colon is missing';
    case 'CommaExpected':
      return 'a comma is missing';
    case 'CloseBraceExpected':
      return 'a closing brace is missing';
    case 'CloseBracketExpected':
      return 'a closing bracket is missing';
    case 'EndOfFileExpected':
      return 'there is more behind its end';
    case 'InvalidNumberFormat':
      return 'the number is malformed';
    case 'UnexpectedEndOfComment':
      return 'the comment has no end';
    case 'UnexpectedEndOfString':
      return 'the text has no closing quote';
    case 'UnexpectedEndOfNumber':
      return 'the number is cut';
    case 'InvalidUnicode':
    case 'InvalidEscapeCharacter':
      return 'the escape is malformed';
    case 'InvalidCharacter':
      return 'a control character has to be escaped';
    default:
      return 'it is no JSON';
  }
}

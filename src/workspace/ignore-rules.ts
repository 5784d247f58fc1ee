/** One line of an ignore file, in the form of .gitignore. */
interface Rule {
  /** Matches paths relative to the ignore file's directory. */
  pattern: RegExp;
  negated: boolean;
  directoriesOnly: boolean;
}

/** The rules of one ignore file; `base` is its directory, relative to the root of the walk, `''` for the root. */
export interface IgnoreFile {
  base: string;
  rules: Rule[];
}

/** Reads an ignore file as git does. Lines that are no valid pattern are passed over. */
export function parseIgnoreFile(base: string, text: string): IgnoreFile {
  const rules = text.split(/\r?\n/).map(parseRule);
  return { base, rules: rules.filter((rule) => rule !== undefined) };
}

/**
 * Whether a path is ignored by the last rule that matches it. Paths below an ignored directory are not asked for: a walk
 * does not enter it.
 *
 * @param files outermost first
 * @param path relative to the root of the walk, with `/`
 */
export function isIgnored(files: readonly IgnoreFile[], path: string, directory: boolean): boolean {
  for (const { base, rules } of files.toReversed()) {
    const relative = base === '' ? path : path.slice(base.length + 1);
    const rule = rules.findLast((one) => (directory || !one.directoriesOnly) && one.pattern.test(relative));
    if (rule) return !rule.negated;
  }
  return false;
}

function parseRule(line: string): Rule | undefined {
  let glob = line.replace(/(?<!\\)\s+$/, '');
  if (glob === '' || glob.startsWith('#')) return undefined;
  const negated = glob.startsWith('!');
  if (negated) glob = glob.slice(1);
  const directoriesOnly = glob.endsWith('/');
  if (directoriesOnly) glob = glob.slice(0, -1);
  const anchored = glob.includes('/');
  if (glob.startsWith('/')) glob = glob.slice(1);
  try {
    return {
      pattern: new RegExp(`^${anchored ? '' : '(?:.*/)?'}${globSource(glob)}$`, 'su'),
      negated,
      directoriesOnly,
    };
  } catch {
    return undefined;
  }
}

function globSource(glob: string): string {
  let source = '';
  for (let at = 0; at < glob.length; ) {
    const [piece, length] = globPiece(glob, at);
    source += piece;
    at += length;
  }
  return source;
}

/** The regular expression of the glob's part at `at`, and how many characters that part has. */
function globPiece(glob: string, at: number): [source: string, length: number] {
  const rest = glob.slice(at);
  const atStart = at === 0 || glob[at - 1] === '/';
  if (atStart && rest.startsWith('**/')) return ['(?:.*/)?', 3];
  if (atStart && rest === '**') return ['.+', 2];
  const stars = /^\*+/.exec(rest)?.[0];
  if (stars) return ['[^/]*', stars.length];
  if (rest.startsWith('?')) return ['[^/]', 1];
  const set = /^\[([!^]?)(\]?[^\]]*)\]/.exec(rest);
  if (set) return [`(?!/)[${set[1] ? '^' : ''}${(set[2] ?? '').replace(/[\\[\]^]/g, '\\$&')}]`, set[0].length];
  if (rest.startsWith('\\') && rest.length > 1) return [escaped(rest[1] ?? ''), 2];
  const char = String.fromCodePoint(rest.codePointAt(0) ?? 0);
  return [escaped(char), char.length];
}

function escaped(char: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char;
}

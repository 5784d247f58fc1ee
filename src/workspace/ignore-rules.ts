import { type Glob, matchesGlob, parseGlob } from './glob.js';
import type { Pace } from './pace.js';

/** One line of an ignore file, in the form of .gitignore. */
interface Rule {
  /** Matches paths relative to the ignore file's directory. */
  glob: Glob;
  negated: boolean;
  directoriesOnly: boolean;
}

/** The rules of one ignore file; `base` is its directory, relative to the root of the walk, `''` for the root. */
export interface IgnoreFile {
  base: string;
  rules: Rule[];
}

/** How much of an ignore file is read, in bytes, in rules, and in characters of a line; what is beyond does not count. */
export const MAX_IGNORE_BYTES = 256 * 1024;
export const MAX_IGNORE_RULES = 10_000;
const MAX_LINE_CHARS = 4096;

/** Rules between two looks at the clock. */
const RULES_AT_ONCE = 50;

/** Reads an ignore file as git does. Lines that are no valid pattern are passed over. */
export function parseIgnoreFile(base: string, text: string): IgnoreFile {
  const rules: Rule[] = [];
  for (const line of text.replace(/^\ufeff/, '').split('\n')) {
    const rule = line.length <= MAX_LINE_CHARS ? parseRule(line.endsWith('\r') ? line.slice(0, -1) : line) : undefined;
    if (rule && rules.push(rule) === MAX_IGNORE_RULES) break;
  }
  return { base, rules };
}

/**
 * Whether a path is ignored by the last rule that matches it. Paths below an ignored directory are not asked for: a walk
 * does not enter it.
 *
 * @param files outermost first
 * @param path relative to the root of the walk, with `/`
 */
export async function isIgnored(
  files: readonly IgnoreFile[],
  path: string,
  directory: boolean,
  pace: Pace,
): Promise<boolean> {
  for (const { base, rules } of files.toReversed()) {
    const relative = base === '' ? path : path.slice(base.length + 1);
    for (let at = rules.length - 1; at >= 0; at--) {
      if (at % RULES_AT_ONCE === 0 && pace.due) await pace.rest();
      const rule = rules[at];
      if (rule && (directory || !rule.directoriesOnly) && matchesGlob(rule.glob, relative)) return !rule.negated;
    }
  }
  return false;
}

function parseRule(line: string): Rule | undefined {
  if (line.startsWith('#')) return undefined;
  let text = withoutTrailingSpaces(line);
  const negated = text.startsWith('!');
  if (negated) text = text.slice(1);
  const directoriesOnly = text.endsWith('/');
  if (directoriesOnly) text = text.slice(0, -1);
  if (text === '') return undefined;
  const glob = parseGlob(text);
  return glob && { glob, negated, directoriesOnly };
}

/** Spaces at the end do not count, unless a backslash stands before them. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ') end--;
  let slashes = 0;
  while (line[end - 1 - slashes] === '\\') slashes++;
  return line.slice(0, slashes % 2 === 1 ? end + 1 : end);
}

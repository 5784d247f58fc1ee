import { basename } from 'node:path';
import type { CommandRules } from '../domain/policy.js';
import type { Argument } from './words.js';

/** Stands for what is not known of a command; only `*` matches it. */
const UNKNOWN = '\u{fffc}';

/** A deny pattern that fits the command, under any of the names it goes by. */
export function denyingPattern(words: readonly Argument[], { deny = [] }: CommandRules): string | undefined {
  const name = words[0]?.value;
  const bare = name?.includes('/') ? [basename(name), ...words.slice(1).map(plain)].join(' ') : undefined;
  const forms = [words.map(plain).join(' '), words.map(quoted).join(' '), ...(bare === undefined ? [] : [bare])];
  return deny.find((pattern) => forms.some((form) => matcher(pattern).test(form)));
}

/** Whether a list of patterns names the command; arguments with spaces or quotes count as they would be quoted. */
export function isNamed(words: readonly Argument[], patterns: readonly string[]): boolean {
  const form = words.map(quoted).join(' ');
  return patterns.some((pattern) => matcher(pattern).test(form));
}

/** Whether a command that is not wholly known could be one that is denied. */
export function couldBeDenied(words: readonly Argument[], rules: CommandRules): boolean {
  return words[0]?.value === undefined && (rules.deny ?? []).length > 0;
}

function plain({ value }: Argument): string {
  return value ?? UNKNOWN;
}

function quoted({ value }: Argument): string {
  if (value === undefined) return UNKNOWN;
  return /^[\w%+,./:=@^~-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}

const compiled = new Map<string, RegExp>();

/** `*` is any text, `?` any character, and ` *` at the end also nothing. */
function matcher(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known) return known;
  const words = pattern.trim().replace(/\s+/g, ' ');
  const open = words.endsWith(' *');
  const body = (open ? words.slice(0, -2) : words)
    .replace(/[\\^$.|+()[\]{}]/g, '\\$&')
    .replace(/\*+/g, '[\\s\\S]*')
    .replaceAll('?', `[^${UNKNOWN}]`);
  const made = new RegExp(`^${body}${open ? '(?: [\\s\\S]*)?' : ''}$`, 'u');
  if (compiled.size >= 1_000) compiled.clear();
  compiled.set(pattern, made);
  return made;
}

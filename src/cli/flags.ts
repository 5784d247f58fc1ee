import { MIN_ASK_MS } from '../domain/asks.js';
import { DURATION_WORDS, readDuration } from '../domain/duration.js';
import { LonghaulError } from '../domain/errors.js';
import { didYouMean } from '../domain/nearest.js';
import { OPEN_STATUSES, type TaskStatus } from '../domain/outcomes.js';
import { APPROVALS, type Approval, DEFAULT_APPROVALS } from '../domain/policy.js';

/** What `run` and `attach` do about an ask when no person sits at the terminal. */
export const ON_ASK = ['wait', 'exit', 'default'] as const;
export type OnAsk = (typeof ON_ASK)[number];

export const ROLES = ['all', 'workflow', 'host'] as const;
export type Role = (typeof ROLES)[number];

const STATUSES: readonly TaskStatus[] = [...OPEN_STATUSES, 'completed', 'budget', 'cancelled', 'failed'];
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** @param most largest value that is taken */
export function parseCount(flag: string, most = 999_999_999): (value: string) => number {
  return (value) => {
    const n = Number(value);
    if (/^\d{1,13}$/.test(value) && n > 0 && n <= most) return n;
    throw badFlag(`${flag} takes a whole number from 1 on, not "${value}".`);
  };
}

/** A duration with units, such as `90s`, `1h30m`, `2d`; in ms. */
export function parseDuration(flag: string): (value: string) => number {
  return (value) => {
    const ms = readDuration(value);
    if (ms !== undefined) return ms;
    throw badFlag(`${flag} takes ${DURATION_WORDS}, not "${value}".`);
  };
}

/** An amount in USD, such as `5`, `0.50` or `$5`; at most a million. */
export function parseMoney(flag: string): (value: string) => number {
  return (value) => {
    const usd = /^\$?(\d{1,7}(?:\.\d{1,6})?)$/.exec(value)?.[1];
    if (usd !== undefined && Number(usd) > 0 && Number(usd) <= 1e6) return Number(usd);
    throw badFlag(`${flag} takes an amount in USD above 0, such as 5 or 0.50, not "${value}".`);
  };
}

/** A percentage above 0 and below 100, with or without its sign. */
export function parsePercent(flag: string): (value: string) => number {
  return (value) => {
    const percent = /^(\d{1,2}(?:\.\d{1,3})?)%?$/.exec(value)?.[1];
    if (percent !== undefined && Number(percent) > 0) return Number(percent);
    throw badFlag(`${flag} takes a percentage above 0 and below 100, such as 80, not "${value}".`);
  };
}

/** A function that reads a flag's or an argument's value, and the words that it takes, which completion offers. */
export interface ReadsWords<T> {
  (value: string): T;
  words: readonly string[];
  /** Several of them, with commas in between. */
  list?: boolean;
  /** Of a list: the one that goes with no other. */
  alone?: string;
}

export function parseOneOf<T extends string>(flag: string, words: readonly T[]): ReadsWords<T> {
  const read = (value: string): T => {
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    throw badFlag(`${flag} takes one of ${words.join(', ')}, not "${value}".${didYouMean(value, words)}`);
  };
  return Object.assign(read, { words });
}

/** Time to an ask's deadline, or between reminders. */
export function parseAskTime(flag: string): (value: string) => number {
  return (value) => {
    const ms = parseDuration(flag)(value);
    if (ms >= MIN_ASK_MS) return ms;
    throw badFlag(`${flag} is at least ${MIN_ASK_MS / 60_000}m, not "${value}".`);
  };
}

/** One file each time the flag is given. */
export function collectFiles(value: string, before: string[] = []): string[] {
  return [...before, value];
}
collectFiles.repeats = true;

/** A task's id or a beginning of it. */
export function parseTask(value: string): string {
  if (value.trim() !== '') return value.trim();
  throw badFlag('The task id is empty.', '`longhaul tasks` lists the ids.');
}

export const parseStatus = parseOneOf('--status', STATUSES);

/** A comma-separated list, in addition to what runs unasked by default; `none` alone: everything asks. */
export function parseApprovals(value: string, before?: Approval[]): Approval[] {
  const names = value.split(',').map((name) => name.trim());
  if (names.length === 1 && names[0] === 'none' && before === undefined) return [];
  const known = names.map((name) => {
    const found = APPROVALS.find((one) => one === name);
    if (found === undefined) {
      const meant = didYouMean(name, APPROVALS);
      throw badFlag(`--approve does not know "${name}".${meant} It takes a list of ${APPROVALS.join(', ')}; or none.`);
    }
    return found;
  });
  return [...new Set([...(before ?? DEFAULT_APPROVALS), ...known])];
}
parseApprovals.words = [...APPROVALS, 'none'] as const;
parseApprovals.list = true;
parseApprovals.alone = 'none';

/** @param next where the flag itself does not say what it takes, how to go on */
export function badFlag(message: string, next = '`longhaul COMMAND --help` says what each flag takes.'): LonghaulError {
  return new LonghaulError('bad-flag', message, { kept: 'Nothing was started or changed.', next });
}

import type { TaskLimits } from './budget.js';

/** Of each limit: largest value, and whether only whole numbers make sense. */
const RULES: Record<keyof TaskLimits, { most: number; whole: boolean; what: string }> = {
  maxTurns: { most: 1e9, whole: true, what: 'a whole number of turns from 1 on' },
  maxTokens: { most: 1e12, whole: true, what: 'a whole number of tokens from 1 on' },
  maxCost: { most: 1e6, whole: false, what: 'an amount in USD above 0, at most a million' },
  maxTimeMs: { most: 366 * 86_400_000, whole: true, what: 'a whole number of milliseconds from 1 on, at most a year' },
  softPercent: { most: 99, whole: false, what: 'a percentage above 0 and below 100' },
};

export const LIMIT_NAMES = Object.keys(RULES) as (keyof TaskLimits)[];

/** What a limit has to be, when this is no value for it. */
export function limitProblem(name: keyof TaskLimits, value: unknown): string | undefined {
  const { most, whole, what } = RULES[name];
  const fits = typeof value === 'number' && value > 0 && value <= most && (!whole || Number.isInteger(value));
  return fits ? undefined : what;
}

/**
 * The limits after a change: given ones replace those there are, null takes one away.
 * @returns what is wrong with the change, naming the limit
 */
export function changedLimits(
  limits: TaskLimits,
  change: Record<string, unknown>,
): { limits: TaskLimits } | { problem: string } {
  const next: TaskLimits = { ...limits };
  for (const [key, value] of Object.entries(change)) {
    const name = LIMIT_NAMES.find((one) => one === key);
    if (name === undefined) {
      return { problem: `There is no limit "${key.slice(0, 100)}"; there are ${LIMIT_NAMES.join(', ')}.` };
    }
    if (value === null) {
      delete next[name];
      continue;
    }
    const what = limitProblem(name, value);
    if (what !== undefined) return { problem: `"${name}" is ${what}, or null for none.` };
    next[name] = value as number;
  }
  return { limits: next };
}

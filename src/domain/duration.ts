const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** A year, so that a deadline stays a sensible date, ms. */
const MAX_MS = 366 * 86_400_000;

/** What {@link readDuration} takes, for errors. */
export const DURATION_WORDS = 'a duration with its unit, such as 90s, 10m, 1h30m or 2d';

/** A duration such as `90s`, `1h30m`, `2d`, at most a year; in ms. Undefined when it is none. */
export function readDuration(text: string): number | undefined {
  if (text.length > 60) return undefined;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  const ms = parts.reduce((sum, [, n, unit]) => sum + Number(n) * (UNITS[unit ?? ''] ?? 0), 0);
  const whole = parts.length > 0 && parts.map(([all]) => all).join('') === text;
  return whole && ms >= 1 && ms <= MAX_MS ? Math.round(ms) : undefined;
}

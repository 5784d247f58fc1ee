import { messageOf } from '../../domain/errors.js';

const UNITS = ['KB', 'MB', 'GB', 'TB'] as const;

/** `512 bytes`, `1.4 MB`, `230 GB`. */
export function size(bytes: number): string {
  let n = bytes;
  let unit: string = 'bytes';
  for (const next of UNITS) {
    if (n < 1024) break;
    n /= 1024;
    unit = next;
  }
  return `${unit === 'bytes' || n >= 10 ? Math.round(n) : n.toFixed(1)} ${unit}`;
}

/** An error's text on one line. */
export function reason(err: unknown): string {
  return messageOf(err).replace(/\s+/g, ' ').trim();
}

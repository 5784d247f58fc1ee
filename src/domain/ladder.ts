import { isTransient, type ProviderFailure } from './failures.js';

/** What the workflow does after a failed model request. `parked` waits are long, and a person can cut them short. */
export type LadderStep = { step: 'retry'; delayMs: number } | { step: 'park'; delayMs: number } | { step: 'ask' };

/** Automatic retries before a task is parked; the original asks a person after as many. */
export const MAX_RETRIES = 3;
/** Delays of the automatic retries, as in the original; also those after an answer without content. */
export const RETRY_MS: readonly number[] = [2_000, 4_000, 8_000];
/** A wait the provider asks for that is longer than this is shown as parked. */
const PARK_FROM_MS = 60_000;
/** Waits of a parked task when the provider gives no time: an outage is looked at again this often. */
const PARK_MS = [60_000, 120_000, 240_000, 480_000, 900_000];
/** Longest wait that is believed: the longest usage limits are those of a month. */
const LONGEST_MS = 31 * 24 * 3_600_000;

/** @param tries failed requests of this turn before this one */
export function afterFailure(failure: ProviderFailure, tries: number): LadderStep {
  if (!isTransient(failure)) return { step: 'ask' };
  const asked = believed(failure.retryAfterMs);
  if (asked !== undefined && asked > PARK_FROM_MS) return { step: 'park', delayMs: asked };
  if (tries < MAX_RETRIES) return { step: 'retry', delayMs: asked ?? RETRY_MS[tries]! };
  const parked = tries - MAX_RETRIES;
  // what costs something each time is not repeated for days without anybody's knowing
  if (failure.paid && parked >= PARK_MS.length) return { step: 'ask' };
  return { step: 'park', delayMs: Math.max(PARK_MS[Math.min(parked, PARK_MS.length - 1)]!, asked ?? 0) };
}

function believed(ms: number | undefined): number | undefined {
  return ms !== undefined && ms >= 0 && ms <= LONGEST_MS ? ms : undefined;
}

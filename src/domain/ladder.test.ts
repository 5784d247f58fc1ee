import { describe, expect, it } from 'vitest';
import { type FailureClass, failureText, type ProviderFailure, remedyFor } from './failures.js';
import { afterFailure } from './ladder.js';

const failure = (kind: FailureClass, more: Partial<ProviderFailure> = {}): ProviderFailure => ({
  class: kind,
  message: 'm',
  ...more,
});
const DAY_MS = 24 * 3_600_000;

/** The whole of it: what becomes of each class at the first failure. */
const POLICY: Record<FailureClass, 'again' | 'ask'> = {
  overloaded: 'again',
  rate_limit: 'again',
  server_error: 'again',
  connection: 'again',
  cut: 'again',
  stalled: 'again',
  too_long: 'again',
  bad_response: 'again',
  auth: 'ask',
  billing: 'ask',
  tls: 'ask',
  address: 'ask',
  not_found: 'ask',
  too_large: 'ask',
  context_window: 'ask',
  bad_request: 'ask',
  internal: 'ask',
};
const classes = (policy: 'again' | 'ask') =>
  (Object.keys(POLICY) as FailureClass[]).filter((kind) => POLICY[kind] === policy);

describe('afterFailure', () => {
  it.each(classes('again'))('%s: again after 2, 4 and 8 s, then parked for longer and longer', (kind) => {
    const steps = [0, 1, 2, 3, 4, 5, 6, 7, 100].map((tries) => afterFailure(failure(kind), tries));
    expect(steps.slice(0, 3)).toEqual([2, 4, 8].map((s) => ({ step: 'retry', delayMs: s * 1000 })));
    const parked = steps.slice(3).map((step) => (step.step === 'park' ? step.delayMs / 60_000 : undefined));
    expect(parked).toEqual([1, 2, 4, 8, 15, 15]);
    expect(remedyFor(failure(kind))).toBeUndefined();
  });

  it.each(classes('ask'))('%s: never again by itself, whatever the provider says', (kind) => {
    expect(afterFailure(failure(kind), 0)).toEqual({ step: 'ask' });
    expect(afterFailure(failure(kind, { retryAfterMs: 5 }), 0)).toEqual({ step: 'ask' });
    expect(remedyFor(failure(kind))).toMatch(/./);
  });

  it('does what the provider says, and parks when that is long', () => {
    const asked = (retryAfterMs: number, tries = 0) => afterFailure(failure('rate_limit', { retryAfterMs }), tries);
    expect(asked(0)).toEqual({ step: 'retry', delayMs: 0 });
    expect(asked(700)).toEqual({ step: 'retry', delayMs: 700 });
    expect(asked(60_000)).toEqual({ step: 'retry', delayMs: 60_000 });
    expect(asked(3_600_000)).toEqual({ step: 'park', delayMs: 3_600_000 });
    expect(asked(9 * DAY_MS)).toEqual({ step: 'park', delayMs: 9 * DAY_MS });
    // a short wait that never helps does not become a flood of requests
    expect(asked(0, 3)).toEqual({ step: 'park', delayMs: 60_000 });
    expect(asked(50_000, 50)).toEqual({ step: 'park', delayMs: 900_000 });
  });

  it('does not believe a wait that no limit has', () => {
    for (const retryAfterMs of [32 * DAY_MS, 1e15, -1, Number.NaN]) {
      expect(afterFailure(failure('rate_limit', { retryAfterMs }), 0)).toEqual({ step: 'retry', delayMs: 2_000 });
    }
  });

  it('asks a person when tries that were paid for go on failing', () => {
    const steps = Array.from({ length: 9 }, (_, tries) => afterFailure(failure('cut', { paid: true }), tries).step);
    expect(steps).toEqual([...Array(3).fill('retry'), ...Array(5).fill('park'), 'ask']);
  });
});

describe('failureText', () => {
  it('names the request, for the provider', () => {
    expect(failureText(failure('auth'))).toBe('m');
    expect(failureText(failure('auth', { requestId: 'req_1' }))).toBe('m (request req_1)');
  });
});

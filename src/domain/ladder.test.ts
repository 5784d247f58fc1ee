import { describe, expect, it } from 'vitest';
import type { FailureClass, ProviderFailure } from './failures.js';
import { afterFailure } from './ladder.js';

const failure = (kind: FailureClass, retryAfterMs?: number): ProviderFailure => ({
  class: kind,
  message: 'm',
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

describe('afterFailure', () => {
  it('tries again after 2, 4 and 8 s, then parks for longer and longer', () => {
    const steps = [0, 1, 2, 3, 4, 5, 6, 7, 100].map((tries) => afterFailure(failure('overloaded'), tries));
    expect(steps.slice(0, 3)).toEqual([2, 4, 8].map((s) => ({ step: 'retry', delayMs: s * 1000 })));
    const parked = steps.slice(3).map((step) => (step.step === 'park' ? step.delayMs / 60_000 : undefined));
    expect(parked).toEqual([1, 2, 4, 8, 15, 15]);
  });

  it('does what the provider says, and parks when that is long', () => {
    expect(afterFailure(failure('rate_limit', 700), 0)).toEqual({ step: 'retry', delayMs: 700 });
    expect(afterFailure(failure('rate_limit', 3_600_000), 0)).toEqual({ step: 'park', delayMs: 3_600_000 });
    expect(afterFailure(failure('rate_limit', 1e12), 0)).toEqual({ step: 'park', delayMs: 7 * 24 * 3_600_000 });
  });

  it.each(['auth', 'not_found', 'bad_request', 'too_large', 'context_window'] as const)(
    'never repeats %s by itself',
    (kind) => {
      expect(afterFailure(failure(kind), 0)).toEqual({ step: 'ask' });
    },
  );
});

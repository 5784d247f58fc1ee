import { describe, expect, it } from 'vitest';
import type { TaskLimits } from './budget.js';
import { limitsAnew } from './limits-anew.js';
import type { CarriedState } from './task.js';

const state = (more: Partial<CarriedState>): CarriedState => ({
  head: 'h',
  turns: 7,
  mistakes: 1,
  emptyAnswers: 0,
  startedAt: 1_000,
  messages: [],
  notices: [],
  seen: '',
  profile: 'p',
  settledAsks: [],
  used: { turns: 0, tokens: 0, cost: 0 },
  mode: 'act',
  limits: {},
  recentCalls: '',
  truncations: 0,
  requestsSinceTodo: 0,
  pausedMs: 0,
  ...more,
});
const used = { turns: 7, tokens: 700, cost: 0.75 };

describe('limits of a task that is taken up again', () => {
  it('are what was used, and as much again; the rest of the state is what it was', () => {
    const before = state({ limits: { maxTurns: 10, maxTokens: 1_000, maxCost: 2, softPercent: 80 } });
    expect(limitsAnew(before, { maxTurns: 99 }, used, 5_000)).toEqual({
      ...before,
      limits: { maxTurns: 17, maxTokens: 1_700, maxCost: 2.75, softPercent: 80 },
      limitsBase: used,
      startedAt: 5_000,
    });
  });

  it('stay as large however often it is taken up', () => {
    let now = state({ limits: { maxTurns: 3 } });
    for (const turns of [3, 5, 5, 8]) {
      now = limitsAnew(now, { maxTurns: 3 }, { ...used, turns }, 0);
      expect(now.limits).toEqual({ maxTurns: turns + 3 });
    }
  });

  it('are those that people have made of them: raised, lowered, taken away, new', () => {
    const given: TaskLimits = { maxTurns: 10, maxCost: 1, maxTokens: 500 };
    const first = limitsAnew(state({ limits: { maxTurns: 40, maxCost: 0.5, maxTimeMs: 60 } }), given, used, 100);
    expect(first.limits).toEqual({ maxTurns: 47, maxCost: 1.25, maxTimeMs: 60 });
    expect(first.deadlineAt).toBe(160);
    const lowered = { ...first, limits: { ...first.limits, maxTurns: 9, maxCost: 0.25 } };
    const again = limitsAnew(lowered, given, { ...used, turns: 9, cost: 0.8 }, 100);
    expect(again.limits.maxTurns).toBe(9 + 2);
    // below what was used before that run: the number itself
    expect(again.limits.maxCost).toBeCloseTo(0.8 + 0.25);
  });

  it('give the time anew, without the pauses of before', () => {
    const paused = state({ limits: { maxTimeMs: 1_000 }, deadlineAt: 9, pausedAt: 5, pausedMs: 77, softAsked: true });
    const anew = limitsAnew(paused, {}, used, 50_000);
    expect(anew).toMatchObject({ startedAt: 50_000, deadlineAt: 51_000, pausedMs: 0 });
    expect('pausedAt' in anew || 'softAsked' in anew).toBe(false);
    expect('deadlineAt' in limitsAnew(state({ deadlineAt: 9 }), {}, used, 0)).toBe(false);
  });

  it('are those it was started with where its state is of an earlier version', () => {
    const { limits: _none, ...old } = state({});
    expect(limitsAnew(old as CarriedState, { maxTurns: 3 }, used, 0).limits).toEqual({ maxTurns: 10 });
  });
});

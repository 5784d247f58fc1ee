import { type BudgetUse, NOTHING_USED, type TaskLimits } from './budget.js';
import type { CarriedState } from './task.js';

/**
 * What a task that is taken up again is held to: its limits, with what people made of them while it ran, count anew. The
 * new ones are what has been used, and as much again as the last run was allowed; the time begins now. Limits that a
 * person has set since the end hold as they are.
 *
 * @param state left by the last run; one of an earlier version may have no limits
 * @param given limits the task was started with
 * @param used by the task tree so far
 * @param now ms since the epoch
 */
export function limitsAnew(state: CarriedState, given: TaskLimits, used: BudgetUse, now: number): CarriedState {
  const { softAsked: _asked, pausedAt: _paused, deadlineAt: _deadline, limitsSet, ...kept } = state;
  const last: TaskLimits = state.limits ?? given;
  const base = state.limitsBase ?? NOTHING_USED;
  const anew = (cap: number | undefined, part: keyof BudgetUse) =>
    cap === undefined ? undefined : used[part] + allowed(cap, base[part]);
  const [maxTurns, maxTokens, maxCost] = [
    anew(last.maxTurns, 'turns'),
    anew(last.maxTokens, 'tokens'),
    anew(last.maxCost, 'cost'),
  ];
  const limits: TaskLimits = {
    ...last,
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxCost === undefined ? {} : { maxCost }),
  };
  return {
    ...kept,
    ...(limitsSet ? { limits: last } : { limits, limitsBase: used }),
    startedAt: now,
    pausedMs: 0,
    ...(last.maxTimeMs === undefined ? {} : { deadlineAt: now + last.maxTimeMs }),
  };
}

/** What a run was allowed. A person who has lowered the limit below what earlier runs had used meant the number itself. */
function allowed(cap: number, base: number): number {
  return cap > base ? cap - base : cap;
}

import { type BudgetCaps, type BudgetSpent, NOTHING_USED, type TaskLimits } from '../domain/budget.js';
import type { BudgetLimit, Outcome } from '../domain/outcomes.js';
import { say } from './ask.js';
import { askAboutBudget } from './asks/budget-limit.js';
import type { Task } from './state.js';

/** What the ledger holds against; the limit on wall time is the workflow's own. */
export function capsOf({ maxTurns, maxTokens, maxCost }: TaskLimits): BudgetCaps {
  return {
    ...(maxTurns === undefined ? {} : { turns: maxTurns }),
    ...(maxTokens === undefined ? {} : { tokens: maxTokens }),
    ...(maxCost === undefined ? {} : { cost: maxCost }),
  };
}

/** From now on these limits hold. */
export function setLimits({ carried }: Task, limits: TaskLimits): void {
  carried.limits = limits;
  delete carried.softAsked;
  delete carried.deadlineAt;
  if (limits.maxTimeMs !== undefined) {
    // the end of a pause adds that pause
    carried.deadlineAt = carried.startedAt + limits.maxTimeMs + carried.pausedMs;
  }
}

/** Ends the task when its turns are used; asks once when so much of any limit is used that a person wanted to hear of it. */
export async function budgetGate(task: Task): Promise<Outcome | undefined> {
  const { maxTurns } = task.carried.limits;
  if (maxTurns !== undefined && task.carried.turns >= maxTurns) {
    return { outcome: 'budget', limit: 'turns', message: `The task has used its ${maxTurns} turns.` };
  }
  const soft = softLimit(task);
  if (soft === undefined || task.carried.softAsked) return undefined;
  task.carried.softAsked = true;
  if (task.settings.policy.yolo) {
    await say(task, [{ type: 'say', say: 'info', text: soft.message }]);
    return undefined;
  }
  if (await askAboutBudget(task, soft.message)) return undefined;
  return { outcome: 'budget', limit: soft.limit, message: `${soft.message} A person has ended it there.` };
}

/** The limit of which the most is used, once that is as much as the soft limit says, and less than all of it. */
function softLimit({ carried, carried: { limits, used } }: Task): { limit: BudgetLimit; message: string } | undefined {
  const { softPercent } = limits;
  if (softPercent === undefined) return undefined;
  const { limitsBase: base = NOTHING_USED } = carried;
  const elapsed = Date.now() - carried.startedAt - carried.pausedMs;
  const parts: [BudgetLimit, number, number | undefined, number][] = [
    ['turns', Math.max(carried.turns, used.turns), limits.maxTurns, base.turns],
    ['tokens', used.tokens, limits.maxTokens, base.tokens],
    ['cost', used.cost, limits.maxCost, base.cost],
    ['time', elapsed, limits.maxTimeMs, 0],
  ];
  const most = parts
    .map(([limit, value, cap, from]) => ({ limit, percent: percentOf(value - from, cap && cap - from) }))
    .reduce((a, b) => (b.percent > a.percent ? b : a));
  if (most.percent < softPercent || most.percent >= 100) return undefined;
  return {
    limit: most.limit,
    message: `The task has used ${Math.floor(most.percent)} % of its limit (${most.limit}).`,
  };
}

function percentOf(value: number, cap: number | undefined): number {
  if (cap === undefined) return 0;
  return value >= cap ? 100 : (100 * value) / cap;
}

/** The ledger refused the next request. */
export function spentOutcome({ limit, used, cap }: BudgetSpent): Outcome {
  const money = (value: number) => `$${value >= 0.001 || value === 0 ? value.toFixed(4) : value.toPrecision(2)}`;
  const amount = (value: number) => (limit === 'cost' ? money(value) : `${Math.round(value)} ${limit}`);
  const message = `The task has used ${amount(used)} of ${amount(cap)}; the rest does not pay for another request.`;
  return { outcome: 'budget', limit, message };
}

export function timeOutcome({ carried: { limits } }: Task): Outcome {
  const seconds = Math.round((limits.maxTimeMs ?? 0) / 1000);
  return { outcome: 'budget', limit: 'time', message: `The task has used its ${seconds} s of wall time.` };
}

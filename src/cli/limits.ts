import type { BudgetUse, TaskLimits } from '../domain/budget.js';
import { duration, money } from './text.js';

/** What a task has used of what it may use: `12 of 40 turns`; what has no limit is left out. */
export function limitWords(limits: TaskLimits, used: BudgetUse, elapsedMs: number): string[] {
  const { maxTurns, maxTokens, maxCost, maxTimeMs, softPercent } = limits;
  return [
    ...(maxTurns === undefined ? [] : [`${used.turns} of ${maxTurns} turns`]),
    ...(maxTokens === undefined ? [] : [`${used.tokens} of ${maxTokens} tokens`]),
    ...(maxCost === undefined ? [] : [`${money(used.cost)} of ${money(maxCost)}`]),
    ...(maxTimeMs === undefined ? [] : [`${duration(elapsedMs)} of ${duration(maxTimeMs)}`]),
    ...(softPercent === undefined ? [] : [`asks at ${softPercent} %`]),
  ];
}

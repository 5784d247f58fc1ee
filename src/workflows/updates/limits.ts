import { setHandler } from '@temporalio/workflow';
import type { TaskLimits } from '../../domain/budget.js';
import { changedLimits } from '../../domain/limits-change.js';
import type { LimitsReply } from '../../domain/replies.js';
import { sayDone } from '../ask.js';
import { setLimits } from '../budget.js';
import { limitsUpdate } from '../definitions.js';
import type { Task } from '../state.js';
import { argument, refused, refuseLate, refuseWhileClosing } from './refuse.js';

/** Limits that are raised, lowered or taken away. */
export function handleLimits(task: Task): void {
  setHandler(limitsUpdate, (raw) => takeLimits(task, readLimits(task, raw)), {
    validator: (raw) => {
      readLimits(task, raw);
      refuseLate(raw);
      refuseWhileClosing(task);
    },
    description:
      'Changes limits of the whole task: {"maxTurns":40,"maxCost":5,"maxTokens":200000,"maxTimeMs":3600000,"softPercent":80}; null takes one away.',
  });
}

async function takeLimits(task: Task, limits: TaskLimits): Promise<LimitsReply> {
  setLimits(task, limits);
  await sayDone(task, [{ type: 'limits', limits }]);
  return { limits };
}

function readLimits(task: Task, raw: unknown): TaskLimits {
  const { notAfter: _, ...change } = argument(raw, '{"maxTurns":40,"maxCost":5}');
  if (Object.keys(change).length === 0) throw refused('BadArgument', 'No limit is given, such as {"maxTurns":40}.');
  const changed = changedLimits(task.carried.limits, change);
  if ('problem' in changed) throw refused('BadArgument', changed.problem);
  return changed.limits;
}

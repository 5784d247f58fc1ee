import type { LimitsChange, TaskClient } from '../client.js';
import { DEFAULT_TASK_SETTINGS } from '../domain/settings.js';
import type { TaskInput } from '../domain/task.js';
import { LogState, storedEvents } from '../journal/log-state.js';
import { type Io, printJson, printLine } from './io.js';
import { limitWords } from './limits.js';
import { requireTask } from './task-row.js';
import { withTask } from './with-client.js';

/** A limit that is to go is false. */
export interface BudgetFlags {
  maxTurns?: number | false;
  /** USD */
  maxCost?: number | false;
  maxTokens?: number | false;
  /** ms */
  maxTime?: number | false;
  softLimit?: number | false;
  json?: boolean;
}

/** `budget ID`: with flags it changes limits, without it shows them. @returns the exit code */
export function budgetCommand(io: Io, home: string, prefix: string, flags: BudgetFlags): Promise<number> {
  const change = changeOf(flags);
  return withTask(io, home, prefix, async (client, task) => {
    const receipt = Object.keys(change).length === 0 ? undefined : await client.setLimits(task, change);
    const { limits, used, elapsedMs } = await budgetOf(client, task);
    const now = receipt?.limits ?? limits;
    if (flags.json) {
      const use = { ...used, timeMs: elapsedMs };
      printJson(io, { type: 'budget', task, limits: now, used: use, state: receipt?.state ?? null });
      return 0;
    }
    if (receipt?.state === 'stored')
      printLine(io, `The task has ended; this holds when it goes on: ${io.command} resume ${task}`);
    const words = limitWords(now, used, elapsedMs);
    printLine(io, words.length === 0 ? 'The task has no limits.' : words.join(' · '));
    return 0;
  });
}

/** The limits of a task as its log has them, and what its tree has used. */
export async function budgetOf({ journal }: TaskClient, task: string) {
  const log = new LogState();
  for await (const stored of storedEvents(journal, task)) log.apply(stored);
  const { input } = await requireTask(journal, task);
  const { settings } = JSON.parse(input) as Partial<TaskInput>;
  return {
    limits: log.limits ?? settings?.limits ?? {},
    mode: log.mode ?? settings?.mode ?? DEFAULT_TASK_SETTINGS.mode,
    used: await journal.treeUse(task),
    elapsedMs: log.elapsedMs(Date.now()),
  };
}

function changeOf({ maxTurns, maxTokens, maxCost, maxTime, softLimit }: BudgetFlags): LimitsChange {
  const given = { maxTurns, maxTokens, maxCost, maxTimeMs: maxTime, softPercent: softLimit };
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value === false ? null : value]],
    ),
  );
}

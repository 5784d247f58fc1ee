import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../domain/errors.js';
import { changedLimits } from '../domain/limits-change.js';
import type { Mode } from '../domain/modes.js';
import { isOpen } from '../domain/outcomes.js';
import type { LimitsReply, ModeReply, PauseReply } from '../domain/replies.js';
import type { TaskRow } from '../journal/rows.js';
import { failureOf } from './explain.js';
import type { Link } from './link.js';
import { standOf } from './rebuild-state.js';
import { notFound } from './resolve.js';
import type { LimitsChange, LimitsReceipt } from './types.js';
import { closedTask } from './wrong-state.js';

/** How long a task may take to write its end, ms. */
const CLOSING_MS = 10_000;
const POLL_MS = 100;

/** An update that only an open task takes. @throws LonghaulError `task-closed`, with `what` that means here */
async function ofOpenTask<Reply>(link: Link, task: string, name: string, argument: object, what: string) {
  try {
    return await link.update<Reply>(task, name, argument);
  } catch (err) {
    const row = await endedMeanwhile(link, task, err);
    if (row) throw closedTask(task, row.status, what);
    throw await link.meaning(task, err);
  }
}

export async function pauseTask(link: Link, task: string, paused: boolean): Promise<void> {
  const [name, what] = paused
    ? ['pause', 'there is nothing to pause']
    : ['unpause', 'unpausing does not take it up again'];
  await ofOpenTask<PauseReply>(link, task, name, {}, what);
}

export function setMode(link: Link, task: string, mode: Mode): Promise<ModeReply> {
  return ofOpenTask<ModeReply>(link, task, 'mode', { mode }, 'its mode can be set when it goes on');
}

/** Changes the limits of an open task, or those that the next run of a closed one is held to. */
export async function setLimits(link: Link, task: string, change: LimitsChange): Promise<LimitsReceipt> {
  const row = await endedRow(link, task);
  if (row) return limitClosed(link, row, change);
  try {
    const { limits } = await link.update<LimitsReply>(task, 'limits', change);
    return { limits, state: 'applied' };
  } catch (err) {
    const ended = await endedMeanwhile(link, task, err);
    if (ended) return limitClosed(link, ended, change);
    throw await link.meaning(task, err);
  }
}

async function limitClosed(link: Link, row: TaskRow, change: LimitsChange): Promise<LimitsReceipt> {
  const { state } = await standOf(link.journal, row);
  const changed = changedLimits(state.limits, { ...change });
  if ('problem' in changed) {
    throw new LonghaulError('bad-answer', changed.problem, {
      kept: 'The task is as it was.',
      next: 'See docs/cli.md.',
    });
  }
  const { limits } = changed;
  await storeClosed(link, row, { ...state, limits, limitsSet: true }, [{ type: 'limits', limits }]);
  return { limits, state: 'stored' };
}

/** @throws LonghaulError `task-busy` when somebody else has changed the task since the row was read */
export async function storeClosed(
  { journal }: Link,
  { task, seq }: TaskRow,
  state: Awaited<ReturnType<typeof standOf>>['state'],
  events: Parameters<Link['journal']['changeClosed']>[2]['events'],
): Promise<void> {
  if (await journal.changeClosed(task, seq, { carried: JSON.stringify(state), events })) return;
  throw new LonghaulError('task-busy', `Task ${task} has just been changed by somebody else.`, {
    kept: 'The task is as they have left it.',
    next: `Look at it with \`longhaul show ${task}\`, then try again.`,
  });
}

/** The row of a task that was not asked any more, since it has ended or is just writing its end; else undefined. */
export async function endedMeanwhile(link: Link, task: string, err: unknown): Promise<TaskRow | undefined> {
  const failure = await failureOf(err);
  if (failure.kind === 'ended') return endedRow(link, task);
  if (failure.kind !== 'refused' || failure.type !== 'TaskClosing') return undefined;
  for (const until = Date.now() + CLOSING_MS; Date.now() < until; await sleep(POLL_MS)) {
    const row = await endedRow(link, task);
    if (row) return row;
  }
  return undefined;
}

/** The row of a task that has ended, also when nothing had written that. @throws LonghaulError `task-not-found` */
export async function endedRow(link: Link, task: string): Promise<TaskRow | undefined> {
  const before = await link.journal.getTask(task);
  if (!before) throw notFound(task);
  if (isOpen(before.status)) await link.settle(task);
  const row = await link.journal.getTask(task);
  return row && !isOpen(row.status) ? row : undefined;
}

import type { Partial, StoredEvent } from '../domain/events.js';
import { isOpen } from '../domain/outcomes.js';
import type { Journal } from '../journal/journal.js';
import { LogState, storedEvents } from '../journal/log-state.js';
import type { HostLease, TaskRow } from '../journal/rows.js';
import { notFound } from './resolve.js';
import { shownStatus } from './served.js';
import type { FollowOptions, TaskDetails, TaskEnd, TaskFilter, TaskSummary } from './types.js';

/** Tasks as the journal has them, newest first. */
export async function listTasks(journal: Journal, { status, limit }: TaskFilter): Promise<TaskSummary[]> {
  const hosts = await journal.liveWorkers();
  // `no_worker` is not stored, so open statuses are told apart here
  const stored = status === undefined || isOpen(status) ? undefined : [status];
  const filtered = status === undefined || stored !== undefined;
  const rows = await journal.listTasks({
    ...(stored === undefined ? {} : { statuses: stored }),
    ...(filtered && limit !== undefined ? { limit } : {}),
  });
  const all = rows.map((row) => summaryOf(row, hosts));
  return all.filter((task) => status === undefined || task.status === status).slice(0, limit);
}

/** @throws LonghaulError `task-not-found` */
export async function taskDetails(journal: Journal, task: string): Promise<TaskDetails> {
  const row = await rowOf(journal, task);
  const state = new LogState();
  for await (const stored of storedEvents(journal, task)) state.apply(stored);
  const { usage, cost, requests } = await journal.totals(task);
  const open = isOpen(row.status);
  return {
    ...summaryOf(row, await journal.liveWorkers()),
    cost,
    asks: open ? [...state.open.values()].map(({ ask }) => ask) : [],
    usage,
    requests,
    seq: state.seq,
    ...(open || !state.closed ? {} : { end: await endOf(journal, state.closed) }),
  };
}

/** Events of a task until it has ended, `signal` aborts or the journal is closed. @throws LonghaulError `task-not-found` */
export async function* followTask(
  journal: Journal,
  task: string,
  { from = 1, signal, partials = false }: FollowOptions,
): AsyncGenerator<StoredEvent | Partial, void> {
  const { status } = await rowOf(journal, task);
  if (!isOpen(status)) {
    for await (const stored of storedEvents(journal, task, from - 1)) {
      if (signal?.aborted) return;
      yield stored;
    }
    return;
  }
  // its end is seen also by whoever asks for events that are never to come
  const start = (await journal.readEvents(task, from - 2, 1)).length > 0 ? from - 1 : 0;
  for await (const item of journal.tail(task, start, signal ?? new AbortController().signal)) {
    if ('partial' in item) {
      if (partials) yield item.partial;
      continue;
    }
    if (item.event.seq >= from) yield item.event;
    if (item.event.event.type === 'closed' && !isOpen((await rowOf(journal, task)).status)) return;
  }
}

/** Waits until the task has ended. @throws LonghaulError `task-not-found`; the reason of `signal` */
export async function taskEnd(journal: Journal, task: string, signal?: AbortSignal): Promise<TaskEnd> {
  const state = new LogState();
  const options = signal === undefined ? {} : { signal };
  for await (const stored of followTask(journal, task, options)) if ('seq' in stored) state.apply(stored);
  signal?.throwIfAborted();
  if (state.closed) return endOf(journal, state.closed);
  throw new DOMException(`The client was closed while task ${task} was open.`, 'AbortError');
}

async function endOf(journal: Journal, { outcome, totals }: NonNullable<LogState['closed']>): Promise<TaskEnd> {
  if (outcome.outcome !== 'completed') return { ...outcome, totals };
  return { ...outcome, result: await journal.getText(outcome.result), totals };
}

async function rowOf(journal: Journal, task: string): Promise<TaskRow> {
  const row = await journal.getTask(task);
  if (!row) throw notFound(task);
  return row;
}

function summaryOf(row: TaskRow, hosts: readonly HostLease[]): TaskSummary {
  const { task, since, created, workspace, model, title, turns, cost } = row;
  return { task, status: shownStatus(row, hosts), since, created, workspace, model, title, turns, cost };
}

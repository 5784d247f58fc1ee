import { shownStatus } from '../client/served.js';
import { TaskClient } from '../client.js';
import { isOpen, type TaskStatus } from '../domain/outcomes.js';
import type { Journal } from '../journal/journal.js';
import type { TaskRow } from '../journal/rows.js';
import { columns, type Io, painter, printJson, printLine } from './io.js';
import { neutralLine } from './neutral.js';
import { age, money, table } from './text.js';
import { statusStyle } from './words.js';

/** Columns from which on turns and costs are listed. */
const SUMS_FROM = 72;

export interface TasksFlags {
  status?: TaskStatus;
  limit?: number;
  json?: boolean;
}

/** Lists tasks, newest first; needs no service. @returns the exit code */
export async function tasksCommand(io: Io, home: string, flags: TasksFlags): Promise<number> {
  const client = await TaskClient.local({ home, env: io.env });
  try {
    const rows = await listed(client.journal, flags);
    if (flags.json) printJson(io, { type: 'tasks', tasks: rows.map(({ row, status }) => taskJson(row, status)) });
    else if (rows.length === 0) printLine(io, flags.status ? `No task is ${flags.status}.` : 'There are no tasks yet.');
    else for (const line of table(lines(rows, io), columns(io))) printLine(io, line);
    return 0;
  } finally {
    await client.close();
  }
}

interface Listed {
  row: TaskRow;
  status: TaskStatus;
}

/** `no_worker` is not stored: it is what an open task is called while nobody works on it. */
async function listed(journal: Journal, flags: TasksFlags): Promise<Listed[]> {
  const workers = await journal.liveWorkers();
  const filter: { statuses?: TaskStatus[]; limit?: number } = {};
  const derived = flags.status !== undefined && isOpen(flags.status);
  if (flags.status !== undefined && !derived) filter.statuses = [flags.status];
  if (flags.limit !== undefined && !derived) filter.limit = flags.limit;
  const rows = await journal.listTasks(filter);
  const shown = rows.map((row) => ({ row, status: shownStatus(row, workers) }));
  return shown.filter(({ status }) => !derived || status === flags.status).slice(0, flags.limit);
}

/** On a narrow screen the title needs the room of the sums. */
function lines(rows: readonly Listed[], io: Io): string[][] {
  const now = Date.now();
  const paint = painter(io.colour);
  const sums = columns(io) >= SUMS_FROM;
  const head = ['ID', 'STATUS', 'AGE', ...(sums ? ['TURNS', 'COST'] : []), 'TITLE'];
  const body = rows.map(({ row, status }) => [
    row.task,
    paint(statusStyle(status), status),
    age(now - row.created),
    ...(sums ? [String(row.turns), money(row.cost)] : []),
    neutralLine(row.title),
  ]);
  return [head.map((title) => paint('bold', title)), ...body];
}

/** A task as `--json` shows it. */
export function taskJson(row: TaskRow, status: TaskStatus): Record<string, unknown> {
  const { task, workspace, model, title, turns, cost } = row;
  const created = new Date(row.created).toISOString();
  return { task, status, since: new Date(row.since).toISOString(), created, workspace, model, title, turns, cost };
}

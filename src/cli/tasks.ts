import { shownStatus } from '../client/served.js';
import { TaskClient } from '../client.js';
import { isOpen, type TaskStatus } from '../domain/outcomes.js';
import type { Journal, TaskRow } from '../journal/journal.js';
import { columns, type Io, printJson, printLine } from './io.js';
import { neutralLine } from './neutral.js';
import { duration, money, table } from './text.js';

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
    else for (const line of table(lines(rows), columns(io))) printLine(io, line);
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

function lines(rows: readonly Listed[]): string[][] {
  const now = Date.now();
  const body = rows.map(({ row, status }) => [
    row.task,
    status,
    duration(now - row.created),
    String(row.turns),
    money(row.cost),
    neutralLine(row.title),
  ]);
  return [['ID', 'STATUS', 'AGE', 'TURNS', 'COST', 'TITLE'], ...body];
}

/** A task as `--json` shows it. */
export function taskJson(row: TaskRow, status: TaskStatus): Record<string, unknown> {
  const { task, workspace, model, title, turns, cost } = row;
  const created = new Date(row.created).toISOString();
  return { task, status, since: new Date(row.since).toISOString(), created, workspace, model, title, turns, cost };
}

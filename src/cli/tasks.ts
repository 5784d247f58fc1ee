import type { TaskSummary } from '../client/types.js';
import { TaskClient } from '../client.js';
import type { TaskStatus } from '../domain/outcomes.js';
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
    const { status, limit } = flags;
    const tasks = await client.list({ ...(status && { status }), ...(limit !== undefined && { limit }) });
    if (flags.json) printJson(io, { type: 'tasks', tasks: tasks.map(taskJson) });
    else if (tasks.length === 0) printLine(io, status ? `No task is ${status}.` : 'There are no tasks yet.');
    else for (const line of table(lines(tasks, io), columns(io))) printLine(io, line);
    return 0;
  } finally {
    await client.close();
  }
}

/** On a narrow screen the title needs the room of the sums. */
function lines(tasks: readonly TaskSummary[], io: Io): string[][] {
  const now = Date.now();
  const paint = painter(io.colour);
  const sums = columns(io) >= SUMS_FROM;
  const head = ['ID', 'STATUS', 'AGE', ...(sums ? ['TURNS', 'COST'] : []), 'TITLE'];
  const body = tasks.map(({ task, status, created, turns, cost, title }) => [
    task,
    paint(statusStyle(status), status),
    age(now - created),
    ...(sums ? [String(turns), money(cost)] : []),
    neutralLine(title),
  ]);
  return [head.map((title) => paint('bold', title)), ...body];
}

/** A task as `--json` shows it. */
export function taskJson(summary: TaskSummary): Record<string, unknown> {
  const { task, status, workspace, model, title, turns, cost } = summary;
  const [since, created] = [summary.since, summary.created].map((at) => new Date(at).toISOString());
  return { task, status, since, created, workspace, model, title, turns, cost };
}

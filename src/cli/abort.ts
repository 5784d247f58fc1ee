import { shownStatus } from '../client/served.js';
import { TaskClient } from '../client.js';
import { isOpen, type TaskStatus } from '../domain/outcomes.js';
import type { Journal } from '../journal/journal.js';
import { type Io, printJson, printLine } from './io.js';
import { requireTask } from './task-row.js';

const WAIT_MS = 8000;
const LOOK_MS = 100;

/** Requests cancellation and waits a little for the task to end. @returns the exit code */
export async function abortCommand(io: Io, home: string, prefix: string, json: boolean): Promise<number> {
  const client = await TaskClient.local({ home, env: io.env });
  try {
    const task = await client.resolve(prefix);
    await client.abort(task);
    const status = await closedStatus(client.journal, task);
    if (json) printJson(io, { type: 'abort', task, status, confirmed: !isOpen(status) });
    else if (isOpen(status))
      printLine(io, `Abort requested; the task ends as soon as a worker takes it (now: ${status}).`);
    else printLine(io, `The task has ended: ${status}.`);
    return 0;
  } finally {
    await client.close();
  }
}

async function closedStatus(journal: Journal, task: string): Promise<TaskStatus> {
  const until = Date.now() + WAIT_MS;
  for (;;) {
    const row = await requireTask(journal, task);
    if (!isOpen(row.status)) return row.status;
    if (Date.now() > until) return shownStatus(row, await journal.liveWorkers());
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

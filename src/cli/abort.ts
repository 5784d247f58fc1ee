import { shownStatus } from '../client/served.js';
import type { ForcedAbort } from '../client/types.js';
import { TaskClient } from '../client.js';
import { isOpen, type TaskStatus } from '../domain/outcomes.js';
import type { Journal } from '../journal/journal.js';
import { type Io, printJson, printLine } from './io.js';
import { requireTask } from './task-row.js';
import { count } from './text.js';

const WAIT_MS = 8000;
const LOOK_MS = 100;

/** Requests cancellation and waits a little for the task to end; with `force` ends it without a worker. @returns the exit code */
export async function abortCommand(
  io: Io,
  home: string,
  prefix: string,
  { force, json }: { force?: boolean; json?: boolean },
): Promise<number> {
  const client = await TaskClient.local({ home, env: io.env });
  try {
    const task = await client.resolve(prefix);
    if (force) {
      const done = await client.forceAbort(task);
      if (json) printJson(io, { type: 'abort', task, forced: true, confirmed: true, ...done });
      else for (const line of forcedWords(done)) printLine(io, line);
      return 0;
    }
    await client.abort(task);
    const status = await closedStatus(client.journal, task);
    if (json) printJson(io, { type: 'abort', task, status, confirmed: !isOpen(status) });
    else if (isOpen(status))
      printLine(
        io,
        `Abort requested; the task ends as soon as a worker takes it (now: ${status}). ` +
          `Without one: ${io.command} abort ${task} --force`,
      );
    else printLine(io, `The task has ended: ${status}.`);
    return 0;
  } finally {
    await client.close();
  }
}

function forcedWords({ workflow, commands, left, status }: ForcedAbort): string[] {
  const how = workflow === 'terminated' ? 'its workflow was terminated' : 'it had no open workflow';
  return [
    `The task has ended: ${status} (${how}, ${count(commands, 'running command')} ended).`,
    ...(left === 0 ? [] : [`Processes of its commands that could not be ended: ${left}.`]),
  ];
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

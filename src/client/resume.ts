import { setTimeout as sleep } from 'node:timers/promises';
import type { AttachmentsRef } from '../domain/attachments.js';
import { LonghaulError } from '../domain/errors.js';
import { isOpen } from '../domain/outcomes.js';
import type { TaskInput } from '../domain/task.js';
import { oneLine } from '../domain/text.js';
import type { Said } from '../domain/turn.js';
import type { Journal } from '../journal/journal.js';
import { LogState, storedEvents } from '../journal/log-state.js';
import type { TaskRow } from '../journal/rows.js';
import { checkWorkspace } from '../workspace/check.js';
import { endHere } from './force.js';
import type { Link } from './link.js';
import { followUpProfile } from './provider.js';
import { standOf } from './rebuild-state.js';
import { checkText } from './requests.js';
import { notFound } from './resolve.js';
import { resumedState } from './resumed-input.js';
import { newTaskQueue, shownStatus } from './served.js';
import type { ResumedTask } from './types.js';
import { openTask } from './wrong-state.js';

/** How long a workflow that has said its end may take to end, ms. */
const CLOSING_MS = 30_000;
const POLL_MS = 200;

/**
 * Takes a closed task up again, as a new run under the same id.
 * @throws LonghaulError `task-state` for an open one, `task-not-found`, `prompt-empty`, `prompt-too-large`,
 * `workspace-in-use`, `workspace-*`, `no-api-key`, `temporal-unreachable`
 */
export async function resumeTask(
  link: Link,
  task: string,
  text: string | undefined,
  attachments?: AttachmentsRef,
): Promise<ResumedTask> {
  if (text !== undefined) checkText(text);
  await link.tasks();
  await link.settle(task);
  const row = await rowOf(link.journal, task);
  const words = text === undefined ? undefined : await link.journal.putBlob(text);
  const said = words || attachments ? { text: words ?? { text: '' }, ...(attachments && { attachments }) } : undefined;
  const resumed = await takeUp(link, row, said);
  if (resumed) return resumed;
  const now = await rowOf(link.journal, task);
  throw openTask(task, shownStatus(now, await link.journal.liveWorkers()), 'resume');
}

/**
 * @param row of the task, closed or not
 * @returns undefined when the task is open, or another client has just taken it up
 * @throws LonghaulError as {@link resumeTask}
 */
export async function takeUp(link: Link, row: TaskRow, said: Said | undefined): Promise<ResumedTask | undefined> {
  const { journal } = link;
  const { task } = row;
  if (isOpen(row.status)) return undefined;
  const temporal = await link.tasks();
  if (temporal.embedded) await checkWorkspace(row.workspace);
  if (!(await hasEnded(link, task))) return undefined;
  const stand = await standOf(journal, row);
  if (stand.rebuilt) await endHere({ home: link.home, task });
  const stored = JSON.parse(row.input) as TaskInput;
  const used = await journal.treeUse(task);
  const state = resumedState(stand, row, stored.settings.limits, said, used, Date.now());
  state.profile = await followUpProfile(link.place, task, state.profile);
  const { journal: _, hostQueue, ...kept } = stored;
  const here = temporal.server === row.server;
  const queue = here ? hostQueue : newTaskQueue(temporal.server, await journal.liveHosts(), link.env);
  const input: TaskInput = { ...kept, journal: journal.id, ...(queue === undefined ? {} : { hostQueue: queue }) };
  const moved = here ? {} : { moved: { server: temporal.server, input: JSON.stringify(input) } };
  const { limits } = state;
  const carried = JSON.stringify(state);
  const events = Object.keys(limits).length > 0 ? [{ type: 'limits', limits } as const] : [];
  const before = await lastOutcome(journal, task);
  if (!(await link.taking(() => journal.reopenTask(task, { seq: row.seq, carried, events, ...moved }))))
    return undefined;
  try {
    const ui = temporal.page(task, await link.startRun({ ...input, state }, oneLine(row.title, 200), before));
    const { workspace, model } = row;
    return { task, workspace, model, from: row.seq + 1, ...(ui ? { ui } : {}) };
  } catch (err) {
    // what was not started is no part of the task
    const now = await journal.getTask(task);
    if (now && !isOpen(now.status)) await journal.saveCarried(task, JSON.stringify(stand.state));
    throw await link.meaning(task, err);
  }
}

/** The journal has a task's end a little before its workflow has ended. @returns false when it has been opened again */
async function hasEnded(link: Link, task: string): Promise<boolean> {
  const temporal = await link.tasks();
  for (const until = Date.now() + CLOSING_MS; ; await sleep(POLL_MS)) {
    try {
      if ((await temporal.look(task)).state !== 'open') return true;
    } catch (err) {
      throw await link.meaning(task, err);
    }
    if (isOpen((await rowOf(link.journal, task)).status)) return false;
    if (Date.now() > until) throw stillClosing(task);
  }
}

async function lastOutcome(journal: Journal, task: string) {
  const log = new LogState();
  for await (const stored of storedEvents(journal, task)) log.apply(stored);
  return log.closed?.outcome;
}

async function rowOf(journal: Journal, task: string): Promise<TaskRow> {
  const row = await journal.getTask(task);
  if (row) return row;
  throw notFound(task);
}

function stillClosing(task: string): LonghaulError {
  return new LonghaulError('task-closing', `Task ${task} has written its end, but its workflow is still open.`, {
    kept: 'The task is as it was.',
    next: `Try again when a worker has ended it (\`longhaul up\`), or end it with \`longhaul abort ${task} --force\`.`,
  });
}

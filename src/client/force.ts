import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError, messageOf } from '../domain/errors.js';
import { isOpen, type TaskStatus } from '../domain/outcomes.js';
import type { Journal } from '../journal/journal.js';
import type { TaskRow } from '../journal/rows.js';
import { endCommands } from '../runner/sweep.js';
import { homePaths } from '../settings/paths.js';
import { settleLeftChange } from '../workspace/file-changes.js';
import { beingStarted } from './errors.js';
import type { TemporalTasks } from './temporal-tasks.js';
import type { ForcedAbort } from './types.js';

export interface ForceOptions {
  journal: Journal;
  home: string;
  task: string;
  /** Connects to Temporal. */
  connect: () => Promise<Pick<TemporalTasks, 'terminate'>>;
}

/** The task's commands do not wait longer than this for a connection, ms. */
const CONNECT_MS = 2_000;
/** A workflow that is just being started gets so long to appear, ms. */
const APPEAR_MS = 3_000;
const POLL_MS = 200;
/** As long as the start of a workflow may take, and some more, ms. */
const STARTING_MS = 30_000;

/**
 * Ends a task without a worker: terminates its workflow, ends its commands on this machine, closes it in the journal.
 * May be repeated.
 *
 * @throws LonghaulError `task-not-found`; `task-busy` while it is being started; `temporal-unreachable` and others of a
 * failed connection, with the commands ended all the same
 */
export async function abortByForce(options: ForceOptions): Promise<ForcedAbort> {
  const { journal, task, connect } = options;
  await rowOf(journal, task);
  const connecting = connect();
  const early = Promise.race([connecting.then(() => true), sleep(CONNECT_MS, false, { ref: false })])
    .catch(() => false)
    .then((connected) => (connected ? NOTHING : endHere(options)));
  let workflow: ForcedAbort['workflow'];
  try {
    workflow = await terminate(await connecting, options);
  } catch (err) {
    if (LonghaulError.is(err) && err.slug === 'task-busy') throw err;
    throw notTerminated(task, sum(await early, await endHere(options)), err);
  }
  const ended = sum(await early, await endHere(options));
  for (const intent of await journal.leftIntents(task)) settleLeftChange(intent);
  return { workflow, ...ended, status: await close(journal, task) };
}

interface Ended {
  commands: number;
  left: number;
}

const NOTHING: Ended = { commands: 0, left: 0 };

/** Ends the task's commands on this machine. */
export async function endHere({ home, task }: Pick<ForceOptions, 'home' | 'task'>): Promise<Ended> {
  const { ended, left } = await endCommands({
    commandsDir: homePaths(home).commands,
    match: (command) => command.task === task,
  });
  return { commands: ended, left };
}

/** @param last what is left after it counts */
function sum(first: Ended, last: Ended): Ended {
  return { commands: first.commands + last.commands, left: last.left };
}

/** A row is written before its workflow is started, so one that is not there may still come. */
async function terminate(
  temporal: Pick<TemporalTasks, 'terminate'>,
  { journal, task }: ForceOptions,
): Promise<ForcedAbort['workflow']> {
  for (const until = Date.now() + APPEAR_MS; ; await sleep(POLL_MS)) {
    if (await temporal.terminate(task)) return 'terminated';
    const { status, since } = await rowOf(journal, task);
    if (status !== 'starting' || Date.now() - since > STARTING_MS) return 'gone';
    if (Date.now() > until) throw beingStarted(task, undefined);
  }
}

async function close(journal: Journal, task: string): Promise<TaskStatus> {
  for (;;) {
    const { status, since } = await rowOf(journal, task);
    if (!isOpen(status)) return status;
    await journal.closeIfOpen(task, since, {
      say: 'The task was aborted by force.',
      outcome: { outcome: 'cancelled' },
    });
  }
}

async function rowOf(journal: Journal, task: string): Promise<TaskRow> {
  const row = await journal.getTask(task);
  if (row) return row;
  throw new LonghaulError('task-not-found', `There is no task ${task}.`, { next: '`longhaul tasks` lists them.' });
}

function notTerminated(task: string, { commands, left }: Ended, cause: unknown): LonghaulError {
  const slug = LonghaulError.is(cause) ? cause.slug : 'temporal-unreachable';
  const why = messageOf(cause);
  const some = left === 0 ? '' : `; ${left} of their processes could not be ended`;
  return new LonghaulError(
    slug,
    `The workflow of task ${task} was not ended, since Temporal could not be used: ${why}`,
    {
      kept: `Done: its running commands on this machine were ended (${commands}${some}). Not done: the task is still open.`,
      next: 'Call it again when Temporal can be reached. Until then a worker may go on with the task.',
      cause,
    },
  );
}

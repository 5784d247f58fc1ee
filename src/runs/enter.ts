import type { Client } from '@temporalio/client';
import { LonghaulError } from '../domain/errors.js';
import type { TaskEvent } from '../domain/events.js';
import type { TaskId } from '../domain/ids.js';
import { type Journal, Superseded, WorkspaceInUse } from '../journal/journal.js';
import { LogState, storedEvents } from '../journal/log-state.js';
import type { Restart } from '../journal/rows.js';
import { type RunHistory, readHistory } from './history.js';

/** Tasks whose run is remembered; beyond that the journal is asked again. */
const MAX_KNOWN = 10_000;

/** Lets the executions of a task's newest run pass; one for each worker. */
export class RunGate {
  private readonly known = new Map<TaskId, string>();

  constructor(private readonly journal: Journal) {}

  /** @throws Superseded for an execution of a run that a newer one has replaced; LonghaulError `workspace-in-use` */
  async enter(client: Pick<Client, 'workflow'>, task: TaskId, run: string): Promise<void> {
    if (this.known.get(task) === run) return;
    await enterRun(this.journal, client, task, run);
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    this.known.set(task, run);
  }
}

/**
 * Makes `run` the task's run in the journal. Where a reset has made it, the journal goes back with it: what the old run
 * left unfinished is void, its asks are closed, those that are open again are shown again, and the log says so.
 *
 * @throws Superseded when `run` is not the newest one; LonghaulError `workspace-in-use` when the task was closed and
 * another one works in its folder
 */
export async function enterRun(
  journal: Journal,
  client: Pick<Client, 'workflow'>,
  task: TaskId,
  run: string,
): Promise<void> {
  for (;;) {
    const from = await journal.runOf(task);
    if (from === run) return;
    if (from === null) {
      if (await journal.enterRun(task, run, from)) return;
      continue;
    }
    const { runId } = await client.workflow.getHandle(task).describe();
    if (runId !== run) throw new Superseded(`run ${run} of task ${task}`);
    const history = await readHistory(client, task, run);
    const restart = (await comesOfReset(client, task, history, from))
      ? await restartOf(journal, task, history)
      : undefined;
    if (await journal.enterRun(task, run, from, restart).catch((err: unknown) => inUse(task, err))) return;
  }
}

/** Whether a reset lies between the run that the journal knows and this one, which may have continued a reset one. */
async function comesOfReset(
  client: Pick<Client, 'workflow'>,
  task: TaskId,
  history: RunHistory,
  from: string,
): Promise<boolean> {
  for (let at = history; ; at = await readHistory(client, task, at.before)) {
    if (at.isReset) return true;
    if (at.before === undefined || at.before === from) return false;
  }
}

/** What the journal has to be told, so that it says what the run believes. */
async function restartOf(journal: Journal, task: TaskId, history: RunHistory): Promise<Restart> {
  const log = new LogState();
  for await (const stored of storedEvents(journal, task)) log.apply(stored);
  const turns = await turnsOf(journal, history);
  const text =
    `The task was reset to an earlier point, in turn ${turns + 1}, and goes on from there. ` +
    'What stands above of later steps no longer counts; what they did in the workspace is still done.';
  const stale = [...log.open.keys()].filter((id) => !history.asks.some(({ ask }) => ask.id === id));
  const events: TaskEvent[] = [
    { type: 'say', say: 'info', text },
    ...stale.map((ask) => ({ type: 'ask_closed', ask, by: 'cancelled', answer: 'no' }) as const),
    ...history.asks.filter(({ ask }) => !log.open.has(ask.id)),
    history.status ?? { type: 'status', status: 'running' },
  ];
  return { turns, events };
}

/** Finished turns: all before the one that was asked for last, and that one when its answer is there. */
async function turnsOf(journal: Journal, { request, turnsBefore }: RunHistory): Promise<number> {
  if (!request) return turnsBefore;
  const state = (await journal.getTurn(request.turn))?.state;
  return request.number - (state === undefined || state === 'open' ? 1 : 0);
}

function inUse(task: TaskId, err: unknown): never {
  if (!(err instanceof WorkspaceInUse)) throw err;
  throw new LonghaulError(
    'workspace-in-use',
    `Task ${task} was reset, but its folder ${err.workspace} has been taken by task ${err.task}.`,
    { kept: 'Both tasks; the one that was reset waits.', next: 'It goes on when the other one has ended.', cause: err },
  );
}

import { isOpen, OPEN_STATUSES, type Outcome } from '../domain/outcomes.js';
import type { Journal } from '../journal/journal.js';
import type { TaskRow } from '../journal/rows.js';

/** A task's workflow. A `closed` one that is open in the journal ended without writing its end there. */
export type WorkflowState =
  | { state: 'open'; run: string }
  | { state: 'absent' }
  | { state: 'closed'; how: 'cancelled' | 'failed' };

export interface Reconciler {
  journal: Pick<Journal, 'closeIfOpen' | 'getTask' | 'listTasks'>;
  /** Tasks of other servers are left alone. */
  server: string;
  look(task: string): Promise<WorkflowState>;
  /** Told of an open task whose newest run is not the one that the journal knows of. */
  otherRun?(row: TaskRow, run: string): Promise<void>;
}

/** A row is written before its workflow is started: so long it may have none, ms. */
const STARTING_MS = 30_000;

/**
 * Ends a task in the journal whose workflow has ended or is gone: terminated from outside, or never started because the
 * client was killed. Two that do it at once write it once.
 *
 * @param row as read before the look: when its status has changed since, it is looked at again
 * @returns whether the task was ended by this call
 */
export async function reconcile(reconciler: Reconciler, row: TaskRow): Promise<boolean> {
  const { journal, server, look, otherRun } = reconciler;
  if (!isOpen(row.status) || row.server !== server) return false;
  if (row.status === 'starting' && Date.now() - row.since < STARTING_MS) return false;
  const found = await look(row.task);
  if (found.state === 'open') {
    if (row.run !== null && row.run !== found.run) await otherRun?.(row, found.run);
    return false;
  }
  if (await journal.closeIfOpen(row.task, row.since, { say: explanation(found), outcome: outcomeOf(found) }))
    return true;
  // the last activity of a run that was terminated may write its end a moment later
  const now = await journal.getTask(row.task);
  return now !== undefined && now.since !== row.since && reconcile(reconciler, now);
}

/** {@link reconcile} for all open tasks. Those that Temporal says nothing of now are left for the next time. */
export async function reconcileAll(reconciler: Reconciler): Promise<void> {
  for (const row of await reconciler.journal.listTasks({ statuses: [...OPEN_STATUSES] })) {
    await reconcile(reconciler, row).catch(() => undefined);
  }
}

type Ended = Exclude<WorkflowState, { state: 'open' }>;

function explanation(found: Ended): string {
  if (found.state === 'absent') return 'Temporal has no workflow of this task, so it has ended.';
  return found.how === 'cancelled'
    ? 'The workflow of this task was terminated from outside, so it has ended.'
    : 'The workflow of this task has ended without writing its end.';
}

function outcomeOf(found: Ended): Outcome {
  if (found.state === 'absent' || found.how === 'cancelled') return { outcome: 'cancelled' };
  return { outcome: 'failed', class: 'internal', message: explanation(found) };
}

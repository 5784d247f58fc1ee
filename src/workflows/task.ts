import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  ContinueAsNew,
  condition,
  isCancellation,
  uuid4,
} from '@temporalio/workflow';
import type { Outcome, TaskResult } from '../domain/outcomes.js';
import type { TaskInput } from '../domain/task.js';
import { NO_USAGE } from '../domain/usage.js';
import { control } from './activities.js';
import { say } from './ask.js';
import { isJournalLost, withJournal } from './asks/journal-lost.js';
import { timeOutcome } from './budget.js';
import { passGates } from './gates.js';
import { handOver, handOverDue } from './hand-over.js';
import { registerHandlers } from './handlers.js';
import { unlessRewound } from './rewind.js';
import { showStatus } from './show.js';
import { Task } from './state.js';
import { runTurn, type TurnOutcome } from './turn.js';

/**
 * One task. Turn follows turn until the model completes it, a limit ends it, or a person does; a long task is a chain of
 * runs. Cancelling it is aborting it. A `failed` outcome fails the workflow, with the outcome in the failure's details.
 */
export async function taskWorkflow(input: TaskInput): Promise<TaskResult> {
  const task = new Task(input, Date.now());
  registerHandlers(task);
  const root = CancellationScope.current();
  root.cancelRequested.catch(() => showStatus(task, 'aborting'));
  const work = new CancellationScope();
  const clock = new CancellationScope();
  void clock.run(() => watchTime(task, work)).catch(() => undefined);
  try {
    const end = await work.run(() => runTask(task));
    clock.cancel();
    if (end === 'hand_over') return await handOver(task);
    return await close(task, end);
  } catch (err) {
    if (err instanceof ContinueAsNew) throw err;
    // a cancelled activity is not tried again: when its worker dies, or leaves it, it fails
    const cancelled = isCancellation(err) || (err instanceof ActivityFailure && work.consideredCancelled);
    const byTime = task.timedOut && !root.consideredCancelled;
    if (cancelled && byTime) return await close(task, timeOutcome(task));
    if (cancelled) await close(task, { outcome: 'cancelled' });
    else if (err instanceof ActivityFailure) await close(task, lastingFailure(err));
    throw cancelled ? new CancelledFailure('The task was aborted.') : err;
  }
}

/** The task loop. */
async function runTask(task: Task): Promise<Outcome | 'hand_over'> {
  showStatus(task, 'running');
  if (!task.input.state || task.carried.resumed) {
    await withJournal(task, () => say(task, [{ type: 'status', status: 'running' }]));
  }
  noticeResumption(task);
  for (;;) {
    const turn = await withJournal(task, () => unlessRewound(task, () => nextTurn(task)));
    if (turn === 'rewound') continue;
    if (turn.next === 'end' && !isReopened(task, turn.outcome)) return turn.outcome;
    if (turn.next === 'hand_over' || handOverDue()) return 'hand_over';
  }
}

async function nextTurn(task: Task): Promise<TurnOutcome> {
  const outcome = await passGates(task);
  return outcome ? { next: 'end', outcome } : runTurn(task);
}

/** A task that is taken up again is told so: time has passed, and what had no result may not have been done. */
function noticeResumption({ carried }: Task): void {
  const { resumed, mode } = carried;
  if (!resumed) return;
  delete carried.resumed;
  const withText = carried.messages.some(({ as }) => as === 'user_message');
  const agoMs = Math.max(0, Date.now() - resumed.endedAt);
  carried.notices.push({ notice: 'resumed', agoMs, after: resumed.after, mode, withText });
}

/** A message that came before the end goes first: the task is not complete then. No `await` after this look. */
function isReopened(task: Task, outcome: Outcome): boolean {
  if (outcome.outcome === 'completed' && task.carried.messages.length > 0) return true;
  task.closing = true;
  return false;
}

/** The limit on wall time holds whatever the task is doing: it cancels the work, not the workflow. */
async function watchTime(task: Task, work: CancellationScope): Promise<void> {
  const { carried } = task;
  for (;;) {
    const { deadlineAt } = carried;
    const isPaused = carried.pausedAt !== undefined;
    const changed = () => carried.deadlineAt !== deadlineAt || (carried.pausedAt !== undefined) !== isPaused;
    if (deadlineAt === undefined || isPaused) {
      await condition(changed);
    } else if (!(await condition(changed, Math.max(1, deadlineAt - Date.now())))) {
      task.timedOut = true;
      work.cancel();
      return;
    }
  }
}

/**
 * The end of a task: no process of it is left, the log says how it ended, and a follow-up finds where it stood.
 * @throws ApplicationFailure for the outcome `failed`
 */
async function close(task: Task, outcome: Outcome): Promise<TaskResult> {
  task.closing = true;
  const { carried } = task;
  if (carried.inProgress) {
    const { turn, verdicts } = carried.inProgress;
    carried.previous = { turn, verdicts, rest: 'interrupted' };
    delete carried.inProgress;
    carried.turns++;
  }
  task.putBackTaken();
  const asks = task.asks.map(({ ask }) => ask);
  for (const open of [...task.asks]) task.closeAsk(open);
  const result = await CancellationScope.nonCancellable(async () => {
    await condition(allHandlersFinished);
    await task.host.endProcesses(task.ref).catch(() => undefined);
    showStatus(task, outcome.outcome);
    const end = { ...task.ref, key: uuid4(), outcome, turns: carried.turns, asks, carried };
    return control.closeTask(end).catch((err: unknown): TaskResult => {
      if (!isJournalLost(err)) throw err;
      const { turns, used } = carried;
      return { ...outcome, totals: { turns, usage: NO_USAGE, cost: used.cost } };
    });
  });
  if (outcome.outcome !== 'failed') return result;
  const { class: type, message } = outcome;
  throw ApplicationFailure.create({ type, message, nonRetryable: true, details: [result] });
}

/** An activity failed in a way that no retry mends. */
function lastingFailure(err: ActivityFailure): Outcome {
  const message = err.cause?.message ?? err.message;
  return { outcome: 'failed', class: isJournalLost(err) ? 'journal_lost' : 'internal', message };
}

import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { TaskResult } from '../domain/outcomes.js';
import type { TaskInput } from '../domain/task.js';
import { hasLongMessage, stowMessages } from './answers.js';
import { throwIfCancelled } from './cancel.js';
import { applyRewind } from './rewind.js';
import type { Task } from './state.js';

/** Replay after a restart stays near 1.5 s up to here, as measured. */
const MAX_EVENTS = 1_500;

/** A run has grown enough that the next step belongs to a new one. */
export function handOverDue(): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  return historyLength >= MAX_EVENTS || continueAsNewSuggested;
}

/**
 * Goes on as a new run, with nothing open: no activity, no child, no handler. Messages that arrive until the end are in
 * the state: the last look at it has no `await` after it.
 */
export async function handOver(task: Task): Promise<never> {
  await stowMessages(task);
  for (;;) {
    await condition(() => allHandlersFinished() || task.rewind !== undefined);
    if (task.rewind !== undefined) await applyRewind(task, task.rewind);
    else if (hasLongMessage(task)) await stowMessages(task);
    else if (allHandlersFinished()) break;
  }
  throwIfCancelled();
  const input: TaskInput = { ...task.input, state: task.carried };
  return continueAsNew<(input: TaskInput) => Promise<TaskResult>>(input);
}

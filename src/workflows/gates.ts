import type { Outcome } from '../domain/outcomes.js';
import { forgiveMistakes } from '../domain/start-state.js';
import type { Notice } from '../domain/turn.js';
import { stowMessages } from './answers.js';
import { askForGuidance } from './asks/mistake-limit.js';
import { budgetGate } from './budget.js';
import { throwIfCancelled } from './cancel.js';
import { whilePaused } from './pause.js';
import type { Task } from './state.js';

/** What has to hold before a turn, in this order; an outcome when the task ends here. */
export async function passGates(task: Task): Promise<Outcome | undefined> {
  throwIfCancelled();
  await whilePaused(task);
  const gone = await mistakeGate(task);
  if (gone) return gone;
  const spent = await budgetGate(task);
  if (spent) return spent;
  // the asks of the other gates may have been open for days
  await whilePaused(task);
  await takeForRequest(task);
  return undefined;
}

async function mistakeGate(task: Task): Promise<Outcome | undefined> {
  const trouble = troubleOf(task);
  if (trouble === undefined) return undefined;
  const failed = { outcome: 'failed', class: 'mistake_limit', message: trouble } as const;
  if (task.settings.policy.yolo || !(await askForGuidance(task, trouble))) return failed;
  forgiveMistakes(task.carried);
  return undefined;
}

/** Why the model needs help, in one sentence. */
function troubleOf({ carried, settings }: Task): string | undefined {
  const { mistakes, truncations, looping } = carried;
  const limit = settings.maxConsecutiveMistakes;
  if (looping) return 'The model makes the same calls again and again.';
  if (truncations >= limit) return `The output limit cut ${truncations} answers in a row inside a call.`;
  if (mistakes < limit) return undefined;
  return `The model made ${mistakes} mistakes in a row (calls that could not be carried out, answers without a call).`;
}

/** Messages and notices go into the next request, and are gone only when its answer is there. */
async function takeForRequest(task: Task): Promise<void> {
  const { carried } = task;
  if (carried.inProgress) return;
  await stowMessages(task);
  task.take(carried.messages.splice(0));
  task.takenNotices.push(...carried.notices.splice(0));
  task.takenNotices.push(...todoNotice(task));
  carried.requestsSinceTodo++;
}

/**
 * The model is reminded of its todo list when so many requests have gone by without it, and when the work of a plan
 * begins. In plan mode it need not have one.
 */
function todoNotice({ settings: { focusChain }, carried, takenNotices }: Task): Notice[] {
  const { requestsSinceTodo: requests, todo, mode } = carried;
  if (!focusChain.enabled || (mode === 'plan' && !todo)) return [];
  const isDue = requests > 0 && requests % focusChain.remindEvery === 0;
  return isDue || takenNotices.includes('act_mode') ? [{ notice: 'todo', requests, ...(todo && { todo }) }] : [];
}

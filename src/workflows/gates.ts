import type { Outcome } from '../domain/outcomes.js';
import { stowMessages, toRef } from './answers.js';
import { askPerson } from './ask.js';
import { throwIfCancelled } from './cancel.js';
import type { Task } from './state.js';

/** What has to hold before a turn, in this order; an outcome when the task ends here. */
export async function passGates(task: Task): Promise<Outcome | undefined> {
  throwIfCancelled();
  const gone = await mistakeGate(task);
  if (gone) return gone;
  const spent = budgetGate(task);
  if (spent) return spent;
  await takeMessages(task);
  return undefined;
}

async function mistakeGate(task: Task): Promise<Outcome | undefined> {
  const { carried, settings } = task;
  if (carried.mistakes < settings.maxConsecutiveMistakes) return undefined;
  const message = `The model made ${carried.mistakes} mistakes in a row (calls that could not be carried out, answers without a call).`;
  if (settings.policy.yolo) return { outcome: 'failed', class: 'mistake_limit', message };
  const answer = await askPerson(task, {
    kind: 'mistake_limit_reached',
    question: `${message} Answer with guidance, or "yes" to let it go on.`,
  });
  const text = await toRef(task, answer);
  if (text !== undefined) carried.messages.unshift({ as: 'feedback', text });
  carried.mistakes = 0;
  return undefined;
}

function budgetGate({ carried, settings }: Task): Outcome | undefined {
  const { maxTurns } = settings.limits;
  if (maxTurns === undefined || carried.turns < maxTurns) return undefined;
  return { outcome: 'budget', limit: 'turns', message: `The task has used its ${maxTurns} turns.` };
}

/** Messages go into the next request, and leave the queue only when its answer is there. */
async function takeMessages(task: Task): Promise<void> {
  if (task.carried.inProgress) return;
  await stowMessages(task);
  task.takenMessages.push(...task.carried.messages.splice(0));
}

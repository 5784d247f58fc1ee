import { said } from '../answers.js';
import { askPerson } from '../ask.js';
import type { Task } from '../state.js';

/** `budget_limit_reached`: the soft limit. @returns whether the task goes on, up to its limits */
export async function askAboutBudget(task: Task, message: string): Promise<boolean> {
  const answer = await askPerson(task, {
    kind: 'budget_limit_reached',
    question: `${message} Go on to the limit?`,
  });
  const words = await said(task, answer);
  if (words) task.carried.messages.unshift({ as: 'user_message', ...words });
  return answer.answer !== 'no';
}

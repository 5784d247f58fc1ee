import { said } from '../answers.js';
import { askPerson } from '../ask.js';
import type { Task } from '../state.js';

/** `mistake_limit_reached`: a text becomes the next thing the model reads. @returns false when the person ends the task */
export async function askForGuidance(task: Task, trouble: string): Promise<boolean> {
  const answer = await askPerson(task, {
    kind: 'mistake_limit_reached',
    question: `${trouble} Answer with guidance, "yes" to let it go on, or "no" to end the task.`,
  });
  const words = await said(task, answer);
  if (words) task.carried.messages.unshift({ as: 'feedback', ...words });
  return answer.answer !== 'no' || words !== undefined;
}

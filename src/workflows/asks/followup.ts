import type { ControlRequest, PreparedCall } from '../../domain/calls.js';
import type { Verdict } from '../../domain/turn.js';
import { said } from '../answers.js';
import { askPerson } from '../ask.js';
import type { Task } from '../state.js';

/** `followup`: a question of the model; its result is the answer. */
export async function askFollowup(
  task: Task,
  call: PreparedCall,
  { question, options }: Extract<ControlRequest, { do: 'ask' }>,
): Promise<Verdict> {
  const { block } = call;
  if (task.settings.policy.yolo) return { block, status: 'done', note: 'nobody_answers' };
  const answer = await askPerson(task, {
    kind: 'followup',
    question: 'text' in question ? question.text : call.summary,
    detail: question,
    ...(options.length > 0 ? { options } : {}),
    call: call.call,
  });
  const words = await said(task, answer);
  if (!words && answer.by === 'default') return { block, status: 'done', note: 'nobody_answers' };
  return { block, status: 'done', as: 'answer', ...(words ?? { text: { text: answer.answer } }) };
}

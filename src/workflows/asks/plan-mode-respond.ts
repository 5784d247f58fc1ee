import type { ControlRequest, PreparedCall } from '../../domain/calls.js';
import type { Verdict } from '../../domain/turn.js';
import { said } from '../answers.js';
import { askPerson, say } from '../ask.js';
import { switchMode } from '../modes.js';
import type { Task } from '../state.js';

/** `plan_mode_respond`: the model shows its plan; "yes" switches to act mode, words go on with the talk. */
export async function respondWithPlan(
  task: Task,
  call: PreparedCall,
  { response, options, explore }: Extract<ControlRequest, { do: 'plan_respond' }>,
): Promise<Verdict> {
  const done = { block: call.block, status: 'done' } as const;
  if (explore) return { ...done, note: 'explore_on' };
  if (task.settings.policy.yolo) {
    await actNow(task);
    return { ...done, note: 'carry_out' };
  }
  const answer = await askPerson(task, {
    kind: 'plan_mode_respond',
    question: 'text' in response ? response.text : call.summary,
    detail: response,
    ...(options.length > 0 ? { options } : {}),
    call: call.call,
  });
  const words = await said(task, answer);
  if (!words && answer.by === 'default' && answer.answer !== 'yes') return { ...done, note: 'plan_unanswered' };
  if (answer.answer === 'yes') await actNow(task);
  const quoted = { as: 'user_message', ...words } as const;
  if (task.carried.mode === 'act' && answer.answer === 'yes') return { ...done, ...quoted, note: 'switched_to_act' };
  return words ? { ...done, ...quoted } : { ...done, as: 'user_message', text: { text: answer.answer } };
}

async function actNow(task: Task): Promise<void> {
  if (task.carried.mode === 'act') return;
  switchMode(task, 'act');
  await say(task, [{ type: 'mode', mode: 'act' }]);
}

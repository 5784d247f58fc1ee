import type { PreparedCall } from '../../domain/calls.js';
import type { Verdict } from '../../domain/turn.js';
import { said } from '../answers.js';
import { askPerson } from '../ask.js';
import type { Task } from '../state.js';

/** `tool` and `command`: may this call be carried out? @returns whether it may, and what the person said with it */
export async function askForApproval(
  task: Task,
  call: PreparedCall,
): Promise<{ approved: boolean; verdict?: Verdict }> {
  const outside = placeOf(call.approval);
  const answer = await askPerson(task, {
    kind: call.approval.need === 'command' ? 'command' : 'tool',
    question: `Allow ${call.summary}${outside}?${call.why === undefined ? '' : ` ${call.why}`}`,
    call: call.call,
    ...(call.preview === undefined ? {} : { detail: call.preview }),
  });
  const words = await said(task, answer);
  if (answer.answer !== 'yes') return { approved: false, verdict: { block: call.block, status: 'denied', ...words } };
  return { approved: true, ...(words ? { verdict: { block: call.block, status: 'done', ...words } } : {}) };
}

function placeOf(need: PreparedCall['approval']): string {
  if (!('outside' in need) || !need.outside) return '';
  return 'guarded' in need ? ' (git or Longhaul obeys what is in it)' : ' (outside the workspace)';
}

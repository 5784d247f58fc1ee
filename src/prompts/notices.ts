import type { CallProblem, ToolUseBlock } from '../domain/blocks.js';
import type { CallStatus } from '../domain/calls.js';
import type { Notice, UserMessage, VerdictNote } from '../domain/turn.js';
import { resumedText } from './resumed.js';

/** What stands for the answer in the conversation when the model gave none. */
export const NO_ANSWER = '[No answer was received from the model.]';

/** Marks an answer that was stopped; the original's marker. */
export const INTERRUPTED = '[Response interrupted by user feedback]';

/** The same where the provider's stream broke off after a call of it had been started. */
export const INTERRUPTED_BY_ERROR = '[Response interrupted by API Error]';

export function noticeText(notice: Notice): string {
  if (typeof notice === 'object') return noticeWithFacts(notice);
  switch (notice) {
    case 'no_tool_used':
      return 'Your last answer called no tool. Go on with the next call; if the task is done, call attempt_completion.';
    case 'empty_answer':
      return 'Your last answer was empty. Go on with the next call.';
    case 'cut_by_max_tokens':
      return 'Your last answer was cut because it was too long. Go on in smaller pieces: shorter texts, and large files in several edits.';
    case 'go_on':
      return 'Go on.';
    case 'loop':
      return 'The same calls come again and again without progress. Change the tool or its arguments, or find out first why it does not work.';
    case 'plan_mode':
      return 'The task is in plan mode: gather information and agree on a plan with the person through plan_mode_respond; change nothing. Only the person can switch to act mode.';
    case 'act_mode':
      return 'The task is in act mode: carry out the work.';
    case 'rewound':
      return 'The person has taken the conversation back to here. Files and finished commands are as later turns left them; read again what you need.';
  }
}

function noticeWithFacts(notice: Extract<Notice, object>): string {
  switch (notice.notice) {
    case 'todo':
      return notice.todo
        ? `The todo list has not been given for ${notice.requests} requests; give it with task_progress, as it is now.`
        : 'There is no todo list yet; give one with task_progress.';
    case 'resumed':
      return resumedText(notice);
  }
}

/** Words of a person, in the wrapper that tells what they are. */
export function userText(as: UserMessage['as'] | 'answer', text: string): string {
  return `<${as}>\n${text}\n</${as}>`;
}

/** In place of words, where a person has sent none. */
export const SEE_ATTACHED = '(No words; see what is attached.)';

/** In place of attachments that the journal does not have, or that are not what they say. */
export const LOST_ATTACHMENTS = '(Something was attached here, and is lost.)';

/** Before images that belong to the result of a call which was not carried out. */
export function attachedToText(tool: string): string {
  return `What the person attached to the answer about ${tool}:`;
}

/**
 * A file that a person attached. Where its text holds the end of the wrapper, the wrapper's own end carries a mark that
 * the text cannot know.
 * @param hash of the text, hex
 */
export function fileText(name: string, text: string, hash: string): string {
  const path = name.replace(/[<>"&\p{Cc}]/gu, '_');
  const mark = /<\/file_content/i.test(text) ? ` end="${hash.slice(0, 16)}"` : '';
  return `<file_content path="${path}"${mark}>\n${text}\n</file_content${mark}>`;
}

/** The result of a call that was never executed. */
export function problemText(problem: CallProblem, call: ToolUseBlock): string {
  switch (problem.kind) {
    case 'bad_json':
      return `The call was not executed. ${problem.message} Send it again with valid JSON.`;
    case 'bad_arguments':
      return `The call was not executed. ${problem.message}`;
    case 'unknown_tool':
      return `The call was not executed: there is no tool "${call.name}". ${problem.message}`.trim();
    case 'truncated':
      return 'The call was not executed: it was truncated by the output limit. Send it again in smaller pieces.';
    case 'refused_path':
      return `The call was not executed. ${problem.message}`;
  }
}

export function noteText(note: VerdictNote): string {
  switch (note) {
    case 'nobody_answers':
      return 'Nobody answers questions in this task: decide yourself, and say in the result what you decided.';
    case 'result_taken':
      return 'The result was taken.';
    case 'explore_on':
      return 'Go on exploring, and show the plan when it is ready.';
    case 'carry_out':
      return 'Nobody answers questions in this task: the task is in act mode now, carry out the plan.';
    case 'plan_unanswered':
      return 'Nobody has answered, so the plan is not to be carried out. Change nothing; call attempt_completion with the plan as the result.';
    case 'switched_to_act':
      return 'The person has switched to act mode: carry out the plan.';
    case 'go_on':
      return 'Go on.';
    case 'only_in_act_mode':
      return 'act_mode_respond is for act mode; in plan mode use plan_mode_respond.';
    case 'do_real_work':
      return 'You have just said how you go on: now make the next call that does it.';
  }
}

/** A result with what the person said when they allowed the call. */
export function withWords(result: string, said: string | undefined): string {
  return said === undefined ? result : `${result}\n\nThe person said with it:\n${userText('feedback', said)}`;
}

/** The result of a call that has none of its own, by how it ended; `said` is what a person or the workflow added. */
export function verdictText(status: CallStatus, said: string | undefined): string {
  switch (status) {
    case 'done':
      return said ?? 'Done.';
    case 'error':
      return said ?? 'The call failed.';
    case 'denied':
      return said === undefined
        ? 'The person denied this call.'
        : `The person denied this call and said:\n${userText('feedback', said)}`;
    case 'skipped':
      return said ?? 'Skipped: an earlier call of the same answer was not carried out.';
    case 'interrupted':
      return withWords('Interrupted before it was executed.', said);
    case 'unknown':
      return withWords(
        'The outcome is unknown: it may or may not have had its effect. Look before you repeat it.',
        said,
      );
  }
}

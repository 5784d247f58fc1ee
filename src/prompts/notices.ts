import type { CallProblem, ToolUseBlock } from '../domain/blocks.js';
import type { CallStatus } from '../domain/calls.js';
import type { Notice, UserMessage, Verdict, VerdictNote } from '../domain/turn.js';
import { resumedText } from './resumed.js';

/** What stands for the answer in the conversation when the model gave none. */
export const NO_ANSWER = '[No answer was received from the model.]';

/** Marks an answer that was stopped; the original's marker. */
export const INTERRUPTED = '[Response interrupted by user feedback]';

/** The same where the provider's stream broke off after a call of it had been started. */
export const INTERRUPTED_BY_ERROR = '[Response interrupted by API Error]';

/** The same where what received the answer was gone before its end. */
export const INTERRUPTED_BEFORE_END = '[Response interrupted before its end]';

const MARKERS: readonly string[] = [INTERRUPTED, INTERRUPTED_BY_ERROR];

/** Whether an answer that was interrupted says so itself. */
export function isMarker(text: string): boolean {
  return MARKERS.includes(text);
}

/** What becomes of an edit in strict plan mode. */
export const EDIT_IN_PLAN_MODE =
  'Not carried out: this turn is in plan mode, where no file is changed. Show what you would change with plan_mode_respond.';

/** @param list the text of the todo list that the notice is about */
export function noticeText(notice: Notice, list?: string): string {
  if (typeof notice === 'object') return noticeWithFacts(notice, list);
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
      return 'You have made the same calls several times in a row, and they bring nothing new. Change the tool or its arguments, or find out first why it does not work; if the same calls go on, the task is stopped.';
    case 'plan_mode':
      return 'From here on the task is in plan mode. Look around and think, and change nothing: files cannot be edited. Talk the plan over with the person through plan_mode_respond. The switch to act mode is theirs to make, by their own means: do not offer it as an option, and do not ask for it with another tool. Where nobody answers, showing the plan makes the switch.';
    case 'act_mode':
      return 'From here on the task is in act mode: carry the work out, with all tools.';
    case 'rewound':
      return 'The person has taken the conversation back to here. Files and finished commands are as later turns left them; read again what you need.';
  }
}

function noticeWithFacts(notice: Extract<Notice, object>, list: string | undefined): string {
  switch (notice.notice) {
    case 'todo':
      return todoText(notice, list);
    case 'resumed':
      return resumedText(notice);
  }
}

function todoText({ requests, todo }: Extract<Notice, { notice: 'todo' }>, list: string | undefined): string {
  if (!todo) return 'There is no todo list yet. If more than a few steps are left, give one with task_progress.';
  const { done, total } = todo;
  const age = requests > 1 ? `, given ${requests} requests ago,` : '';
  const stand = `Your todo list${age} has ${done} of ${total} items done:\n\n${list ?? ''}\n\n`;
  if (done < total) return `${stand}Give it with task_progress, as it is now, with your next call.`;
  return `${stand}If that is so and checked, call attempt_completion; else give it with task_progress, with what is left.`;
}

/** Words of a person, in the wrapper that tells what they are. */
export function userText(as: UserMessage['as'] | NonNullable<Verdict['as']>, text: string): string {
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
    case 'denied_command':
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

/** A result with what the person said when they allowed the call; `words` are in their wrapper. */
export function withWords(result: string, words: string | undefined): string {
  return words === undefined ? result : `${result}\n\nThe person said with it:\n${words}`;
}

/**
 * The result of a call that has none of its own, by how it ended.
 * @param note what the workflow says to it
 * @param words what a person said with it, in its wrapper
 */
export function verdictText(status: CallStatus, note: string | undefined, words: string | undefined): string {
  switch (status) {
    case 'done':
      return together(note, words) ?? 'Done.';
    case 'error':
      return together(note, words) ?? 'The call failed.';
    case 'denied':
      return `The person denied this call${words === undefined ? '.' : ` and said:\n${words}`}`;
    case 'skipped':
      return together(note, words) ?? 'Skipped: an earlier call of the same answer was not carried out.';
    case 'interrupted':
      return withWords('Interrupted before it was executed.', words);
    case 'unknown':
      return withWords(
        'The outcome is unknown: it may or may not have had its effect. Look before you repeat it.',
        words,
      );
  }
}

function together(...parts: (string | undefined)[]): string | undefined {
  const said = parts.filter((part) => part !== undefined);
  return said.length === 0 ? undefined : said.join('\n');
}

import type { TaskEvent } from '../../src/domain/events.js';
import { call, finish, type Responder, type Step, say } from '../../src/fake-model/index.js';
import type { RestatedResult } from './same-conversation.js';

/** Files of the workspace at the task's beginning. */
export const FILES = { 'a.txt': 'first file\n', 'notes.txt': 'start\nend\n' };
/** What the task leaves of those it changes or makes. */
export const LEFT = { 'notes.txt': 'start\nmiddle\nend\n', counter: 'once\n' };
/** The result of a call that was carried out before a crash, and stored after it. */
export const RESTATED: readonly RestatedResult[] = [
  {
    tool: 'replace_in_file',
    text: '"notes.txt" was saved; a restart came between, and the change was made once. It now is:\n1 | start\n2 | middle\n3 | end',
  },
];
/** What only a call makes that was denied. */
export const NEVER = 'denied';

/** Reading and editing run unasked, commands do not. */
export const POLICY = { yolo: false, approve: ['read', 'edit'] } as const;

const COUNT = 'echo once >> counter';
const command = (text: string) => call('execute_command', { command: text, requires_approval: true });

/** What the model says in each of its answers. */
export const TEXTS = ['I look first.', 'I edit.', 'I count.', 'I have a question.', 'I try more.', 'I am done.'];
export const RESULT = 'All of it is done.';

const CALLS: Step[][] = [
  [call('read_file', { path: 'a.txt' }), call('read_file', { path: 'notes.txt' })],
  [
    call('replace_in_file', {
      path: 'notes.txt',
      diff: '------- SEARCH\nend\n=======\nmiddle\nend\n+++++++ REPLACE',
    }),
  ],
  [command(COUNT)],
  [call('ask_followup_question', { question: 'Which colour?' })],
  [command(`touch ${NEVER}`)],
  [call('attempt_completion', { result: RESULT })],
];

/** Six answers: reads, an edit, a command, a question, a call that is denied, the end. */
export const sixTurns: Responder = ({ turn }) => {
  const calls = CALLS[turn];
  return calls && [say(TEXTS[turn]!), ...calls, finish()];
};

/** What a person answers to an ask of the task. */
export function reply({ ask }: Extract<TaskEvent, { type: 'ask' }>): {
  answer: 'yes' | 'no' | 'message';
  text?: string;
} {
  if (ask.kind === 'followup') return { answer: 'message', text: 'Blue.' };
  return { answer: ask.question.includes(NEVER) ? 'no' : 'yes' };
}

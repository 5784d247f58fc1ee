import { condition, uuid4 } from '@temporalio/workflow';
import type { Answer, Ask } from '../domain/asks.js';
import type { TaskEvent } from '../domain/events.js';
import type { TaskStatus } from '../domain/outcomes.js';
import { cut, oneLine } from '../domain/text.js';
import { control } from './activities.js';
import { replyJson, showStatus } from './show.js';
import type { OpenAsk, Task } from './state.js';

/** Longest question by value; the whole of it is in `detail`. */
const MAX_QUESTION = 300;

export type NewAsk = Pick<Ask, 'kind' | 'question'> &
  Partial<Pick<Ask, 'options' | 'detail' | 'call' | 'deadline' | 'default'>>;

/**
 * Asks a person and waits, for as long as it takes or until the ask's deadline, when its default is taken. The ask is in
 * the task log before it can be missed, and so is its end. While it is open the task is `waiting`, or `parked` when time
 * alone would answer it.
 */
export async function askPerson(task: Task, what: NewAsk): Promise<Answer> {
  const question = oneLine(what.question, MAX_QUESTION);
  const ask: Ask = { id: `ask-${uuid4().slice(0, 8)}`, opened: Date.now(), ...what, question };
  if (ask.options) ask.options = ask.options.map((option) => cut(option, 200)).slice(0, 10);
  const open: OpenAsk = { ask };
  task.asks.push(open);
  const parked = ask.deadline !== undefined;
  if (parked) task.parkedUntil = ask.deadline;
  const status: TaskStatus = parked ? 'parked' : 'waiting';
  showStatus(task, status, question);
  const until = ask.deadline === undefined ? {} : { until: ask.deadline };
  await say(task, [
    { type: 'ask', ask, reply: replyJson(ask) },
    { type: 'status', status, ...until },
  ]);

  const settled = () => open.settled !== undefined;
  if (ask.deadline === undefined) await condition(settled);
  else await condition(settled, Math.max(1, ask.deadline - Date.now()));
  const { answer, by } = open.settled ?? { answer: { answer: ask.default ?? 'no' }, by: 'default' as const };
  task.closeAsk(open);
  task.parkedUntil = undefined;
  showStatus(task, 'running');
  const text = answer.text === undefined ? {} : { text: cut(answer.text, 1000) };
  await say(task, [
    { type: 'ask_closed', ask: ask.id, by, answer: answer.answer, ...text },
    { type: 'status', status: 'running' },
  ]);
  return answer;
}

/** Adds to the task log. */
export async function say(task: Task, events: TaskEvent[]): Promise<void> {
  await control.appendLog({ ...task.ref, key: uuid4(), events });
}

import { CancellationScope, condition, uuid4 } from '@temporalio/workflow';
import type { Answer, Ask } from '../domain/asks.js';
import type { TaskEvent } from '../domain/events.js';
import type { TaskStatus } from '../domain/outcomes.js';
import { cut, oneLine } from '../domain/text.js';
import { control } from './activities.js';
import { replyJson, showStatus } from './show.js';
import type { OpenAsk, Task } from './state.js';

/** Longest question by value; the whole of it is in `detail`. */
export const MAX_QUESTION = 300;

/** Reminders of one ask: each is a few events of the history, which is bounded. */
const MAX_REMINDERS = 100;

export type NewAsk = Pick<Ask, 'kind' | 'question'> &
  Partial<Pick<Ask, 'options' | 'detail' | 'call'>> & {
    /** Time alone answers it with "yes", at this time in ms since the epoch: the task is parked until then. */
    parkedUntil?: number;
  };

/**
 * Asks a person and waits, for as long as it takes or until the ask's deadline, when its default is taken. The ask is in
 * the task log before it can be missed, and so is its end. While it is open the task is `waiting`, or `parked` when time
 * alone would answer it.
 * @param log where the ask and its end are told; only one that is about the journal itself goes elsewhere
 */
export async function askPerson(task: Task, what: NewAsk, log: typeof say = say): Promise<Answer> {
  const ask = newAsk(task, what);
  const open: OpenAsk = { ask };
  task.asks.push(open);
  task.parkedUntil = what.parkedUntil;
  const status: TaskStatus = what.parkedUntil === undefined ? 'waiting' : 'parked';
  showStatus(task, status, ask.question);
  const until = ask.deadline === undefined ? {} : { until: ask.deadline };
  await log(task, [
    { type: 'ask', ask, reply: replyJson(ask) },
    { type: 'status', status, ...until },
  ]);

  await settledOrDue(task, open, log);
  const byDefault = { answer: { answer: ask.default ?? 'no', by: 'default' }, by: 'default' } as const;
  const { answer, by } = open.settled ?? byDefault;
  task.closeAsk(open);
  task.parkedUntil = undefined;
  showStatus(task, 'running');
  // whatever breaks the task off now, the log must not show the ask as open
  await CancellationScope.nonCancellable(() =>
    log(task, [closedEvent(ask, answer, by), { type: 'status', status: 'running' }]),
  );
  return { ...answer, by };
}

/** Adds to the task log. */
export async function say(task: Task, events: TaskEvent[]): Promise<void> {
  await control.appendLog({ ...task.ref, key: uuid4(), events });
}

/** Adds what has been changed already: whatever breaks the task off now, the log has to tell it. */
export function sayDone(task: Task, events: TaskEvent[]): Promise<void> {
  return CancellationScope.nonCancellable(() => say(task, events));
}

function newAsk(task: Task, { parkedUntil, ...what }: NewAsk): Ask {
  const opened = Date.now();
  const question = oneLine(what.question, MAX_QUESTION);
  const ask: Ask = { id: `ask-${uuid4().slice(0, 8)}`, opened, ...what, question };
  if (ask.options) ask.options = ask.options.map((option) => cut(option, 200)).slice(0, 10);
  if (parkedUntil !== undefined) return { ...ask, deadline: parkedUntil, default: 'yes' };
  const policy = task.settings.asks[ask.kind] ?? task.settings.asks.all;
  if (policy?.remindMs !== undefined) ask.remindMs = policy.remindMs;
  if (policy?.default !== undefined) ask.default = policy.default;
  if (policy?.deadlineMs === undefined) return ask;
  return { ...ask, deadline: opened + policy.deadlineMs, default: policy.default ?? 'no' };
}

/** Until somebody answers, or the deadline has come; reminds people in between. */
async function settledOrDue(task: Task, open: OpenAsk, log: typeof say): Promise<void> {
  const { id, opened, deadline, remindMs } = open.ask;
  const settled = () => open.settled !== undefined;
  let reminded = opened;
  for (let count = 1; ; count++) {
    const every = count > MAX_REMINDERS ? undefined : remindMs;
    const reminder = every === undefined ? Number.POSITIVE_INFINITY : nextReminder(opened, every, reminded);
    const due = Math.min(deadline ?? Number.POSITIVE_INFINITY, reminder);
    if (due === Number.POSITIVE_INFINITY) return condition(settled);
    const isSettled = await condition(settled, Math.max(1, due - Date.now()));
    if (isSettled || due === deadline) return;
    reminded = due;
    await log(task, [{ type: 'ask_reminder', ask: id, count }]);
  }
}

/** The first one that is not past: those that were missed while no worker was there are not made up for. */
function nextReminder(opened: number, every: number, reminded: number): number {
  const after = Math.max(reminded, Date.now());
  return opened + (Math.floor((after - opened) / every) + 1) * every;
}

function closedEvent(ask: Ask, answer: Answer, by: 'person' | 'default'): TaskEvent {
  const { text, textRef, who, from } = answer;
  return {
    type: 'ask_closed',
    ask: ask.id,
    by,
    answer: answer.answer,
    ...(text === undefined ? {} : { text: cut(text, 1000) }),
    ...(textRef === undefined ? {} : { textRef }),
    ...(answer.attachments === undefined ? {} : { attached: answer.attachments }),
    ...(who === undefined ? {} : { who }),
    ...(from === undefined ? {} : { from }),
  };
}

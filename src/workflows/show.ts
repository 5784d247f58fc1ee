import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { Ask } from '../domain/asks.js';
import type { TaskStatus } from '../domain/outcomes.js';
import { oneLine } from '../domain/text.js';
import type { Todo } from '../domain/todo.js';
import { SEARCH_ASK, SEARCH_STATUS, SEARCH_WAITING_SINCE } from './definitions.js';
import type { Task } from './state.js';

/** Sets the status in the search attributes when it changes, and always the details that the Temporal UI shows. */
export function showStatus(task: Task, status: TaskStatus, doing = ''): void {
  task.doing = doing;
  if (status !== task.status) {
    task.status = status;
    const [open] = task.asks;
    upsertSearchAttributes([
      { key: SEARCH_STATUS, value: status },
      { key: SEARCH_ASK, value: open?.ask.id ?? null },
      { key: SEARCH_WAITING_SINCE, value: open ? new Date(open.ask.opened) : null },
    ]);
  }
  setCurrentDetails(details(task));
}

/** The JSON that answers an ask, ready to paste into the update or signal `answer`. */
export function replyJson(ask: Ask): string {
  const isTalk = ask.kind === 'followup' || ask.kind === 'plan_mode_respond';
  const usual = isTalk ? { answer: 'message', text: ask.options?.[0] ?? '…' } : { answer: 'yes' };
  return JSON.stringify({ ask: ask.id, ...usual });
}

/** A code block that its own content cannot end. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function todoLines({ text, done, total }: Todo, task: string): string {
  const head = `### Todo list: ${done} of ${total} done`;
  return 'text' in text ? `${head}\n\n${fenced(text.text)}` : `${head} (\`longhaul show ${task}\` has it)`;
}

function answerHelp({ kind, deadline, default: otherwise }: Ask): string {
  const until =
    deadline === undefined ? '' : ` At ${new Date(deadline).toISOString()} "${otherwise ?? 'no'}" is taken.`;
  switch (kind) {
    case 'followup':
      return `Answer with a text.${until}`;
    case 'plan_mode_respond':
      return `Answer with a text to go on planning, or with \`"answer":"yes"\` to switch to act mode.${until}`;
    case 'tool':
    case 'command':
    case 'mistake_limit_reached':
    case 'api_req_failed':
    case 'budget_limit_reached':
      return `\`"answer":"no"\` refuses; a \`"text"\` may go with either.${until}`;
  }
}

function details(task: Task): string {
  const lines = [`**${task.status}**${task.doing === '' ? '' : ` · ${oneLine(task.doing, 200)}`}`];
  if (task.parkedUntil !== undefined) lines.push(`Parked until ${new Date(task.parkedUntil).toISOString()}.`);
  const { carried } = task;
  if (carried.pausedAt !== undefined && task.status !== 'paused') lines.push('Will pause when this step has ended.');
  lines.push(`Mode: ${carried.mode} · turns: ${carried.turns} · cost: $${carried.used.cost.toFixed(4)}`);
  if (carried.todo) lines.push(todoLines(carried.todo, task.ref.task));
  if (task.carried.messages.length > 0) lines.push(`Messages waiting: ${task.carried.messages.length}`);
  for (const { ask } of task.asks) {
    lines.push(`### Ask \`${ask.id}\` (${ask.kind})`, fenced(ask.question));
    if (ask.detail && 'text' in ask.detail) lines.push(fenced(ask.detail.text));
    else if (ask.detail) lines.push(`The whole of it: \`longhaul show ${task.ref.task}\``);
    if (ask.options) lines.push('Options:', fenced(ask.options.map((option) => oneLine(option, 200)).join('\n')));
    lines.push('Answer with the update (or signal) `answer`:', `\`\`\`json\n${replyJson(ask)}\n\`\`\``);
    lines.push(answerHelp(ask));
    lines.push(`Or: \`longhaul answer ${task.ref.task} ${ask.id} …\``);
  }
  return lines.join('\n\n');
}

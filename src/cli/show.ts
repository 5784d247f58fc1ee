import { isRowServed, shownStatus } from '../client/served.js';
import { TaskClient } from '../client.js';
import { isOpen } from '../domain/outcomes.js';
import { LogState, storedEvents } from '../journal/log-state.js';
import { LOCAL_SERVER, type TaskRow } from '../journal/rows.js';
import { askLines, howToAnswer, parkedUntil } from './asking.js';
import { budgetOf } from './budget.js';
import { wrap } from './flow.js';
import { type Io, painter, printJson, printLine, textWidth } from './io.js';
import { limitWords } from './limits.js';
import { neutralise, neutralLine } from './neutral.js';
import { markdownProse, rendered } from './prose.js';
import { requireTask, uiPage } from './task-row.js';
import { taskJson } from './tasks.js';
import { count, dateTime, duration, money, tokens } from './text.js';
import { outcomeWords, todoLines } from './words.js';

/** State of one task, its open asks with how to answer them, its totals; needs no service. @returns the exit code */
export async function showCommand(io: Io, home: string, prefix: string, json: boolean): Promise<number> {
  const client = await TaskClient.local({ home, env: io.env });
  const { journal } = client;
  try {
    const task = await client.resolve(prefix);
    const row = await requireTask(journal, task);
    const state = new LogState();
    for await (const stored of storedEvents(journal, task)) state.apply(stored);
    const workers = await journal.liveWorkers();
    const status = shownStatus(row, workers);
    const served = isRowServed(row, workers);
    const asks = isOpen(row.status) ? [...state.open.values()] : [];
    const until = asks.map(({ ask }) => parkedUntil(ask)).find((at) => at !== undefined);
    const { usage, cost, requests } = await journal.totals(task);
    const outcome = isOpen(row.status) ? undefined : state.closed?.outcome;
    const result = outcome?.outcome === 'completed' ? await journal.getText(outcome.result) : undefined;
    const { todo } = state;
    const ui = await uiPage(home, io.env, task);
    const { limits, mode, used, elapsedMs } = await budgetOf(client, task);
    const words = limitWords(limits, used, elapsedMs);
    if (json) {
      printJson(io, {
        type: 'show',
        ...taskJson({ ...row, status }),
        worker: isOpen(row.status) ? served : null,
        profile: row.profile,
        mode,
        pausedSince: state.pausedAt === undefined ? null : new Date(state.pausedAt).toISOString(),
        limits,
        used: { ...used, timeMs: elapsedMs },
        ui: ui ?? null,
        seq: state.seq,
        todo: todo ? { text: todo.text, done: todo.done, total: todo.total } : null,
        parkedUntil: until === undefined ? null : new Date(until).toISOString(),
        asks: asks.map(({ ask, reply }) => ({
          ...ask,
          reminders: state.reminders.get(ask.id) ?? 0,
          reply,
          command: howToAnswer({ type: 'ask', ask, reply }, task, io.command).command,
        })),
        outcome: outcome ? { ...outcome, ...(result === undefined ? {} : { result }) } : null,
        usage,
        cost,
        requests,
      });
      return 0;
    }
    const lines = [
      ['task', task],
      [
        'status',
        // when the last worker was lost is not known, only when the stored status began
        `${status}${until === undefined ? '' : ` until ${dateTime(until)}`}${isOpen(row.status) && !served ? noWorkerHint(row, io.command) : ''}${status === 'no_worker' ? '' : `, for ${duration(Date.now() - row.since)}`}`,
      ],
      ['title', neutralLine(row.title)],
      ['workspace', neutralLine(row.workspace)],
      ['model', neutralLine(row.model)],
      ...(row.profile === null ? [] : [['profile', row.profile]]),
      ['mode', mode],
      ...(state.pausedAt === undefined ? [] : [['paused', `since ${dateTime(state.pausedAt)}`]]),
      ['started', dateTime(row.created)],
      ['totals', `${count(row.turns, 'turn')}, ${count(requests, 'request')}, ${tokens(usage)}, ${money(cost)}`],
      ...(words.length > 0 ? [['limits', words.join(' · ')]] : []),
      ...(ui ? [['Temporal UI', ui]] : []),
      ...(outcome ? [['outcome', outcomeWords(outcome)]] : []),
    ];
    for (const [name, value] of lines)
      printLine(io, wrap(`${`${name}:`.padEnd(13)}${value}`, textWidth(io), ' '.repeat(13)));
    if (todo) printLine(io, `\ntodo list: ${todo.done}/${todo.total} done`);
    for (const line of todo ? todoLines(todo.text) : []) printLine(io, wrap(`  ${line}`, textWidth(io), '      '));
    for (const ask of asks) {
      const lines = await askLines(ask, task, journal, {
        io,
        howTo: true,
        maxLines: Number.POSITIVE_INFINITY,
      });
      for (const line of lines) printLine(io, line);
      const reminders = state.reminders.get(ask.ask.id) ?? 0;
      const reminded = reminders === 0 ? '' : `, ${count(reminders, 'reminder')} since`;
      printLine(io, painter(io.colour)('dim', `  asked: ${dateTime(ask.ask.opened)}${reminded}`));
    }
    if (result !== undefined) printLine(io, `\n${rendered(markdownProse(io), neutralise(result))}`);
    return 0;
  } finally {
    await client.close();
  }
}

function noWorkerHint({ server }: TaskRow, command: string): string {
  return ` (no worker is alive: start one with ${command} ${server === LOCAL_SERVER ? 'up' : 'worker'})`;
}

import { isRowServed, shownStatus } from '../client/served.js';
import { TaskClient } from '../client.js';
import { isOpen } from '../domain/outcomes.js';
import { LogState, storedEvents } from '../journal/log-state.js';
import { LOCAL_SERVER, type TaskRow } from '../journal/rows.js';
import { askLines, howToAnswer, parkedUntil } from './asking.js';
import { wrap } from './flow.js';
import { type Io, painter, printJson, printLine, textWidth } from './io.js';
import { neutralise, neutralLine } from './neutral.js';
import { markdownProse, rendered } from './prose.js';
import { requireTask, uiPage } from './task-row.js';
import { taskJson } from './tasks.js';
import { count, dateTime, duration, money, tokens } from './text.js';
import { outcomeWords } from './words.js';

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
    const ui = await uiPage(home, io.env, task);
    if (json) {
      printJson(io, {
        type: 'show',
        ...taskJson({ ...row, status }),
        worker: isOpen(row.status) ? served : null,
        profile: row.profile,
        ui: ui ?? null,
        seq: state.seq,
        parkedUntil: until === undefined ? null : new Date(until).toISOString(),
        asks: asks.map(({ ask, reply }) => ({
          ...ask,
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
      ['started', dateTime(row.created)],
      ['totals', `${count(row.turns, 'turn')}, ${count(requests, 'request')}, ${tokens(usage)}, ${money(cost)}`],
      ...(ui ? [['Temporal UI', ui]] : []),
      ...(outcome ? [['outcome', outcomeWords(outcome)]] : []),
    ];
    for (const [name, value] of lines)
      printLine(io, wrap(`${`${name}:`.padEnd(13)}${value}`, textWidth(io), ' '.repeat(13)));
    for (const ask of asks) {
      const lines = await askLines(ask, task, journal, {
        io,
        howTo: true,
        maxLines: Number.POSITIVE_INFINITY,
      });
      for (const line of lines) printLine(io, line);
      printLine(io, painter(io.colour)('dim', `  asked: ${dateTime(ask.ask.opened)}`));
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

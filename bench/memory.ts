import { setTimeout as sleep } from 'node:timers/promises';
import type { TaskClient } from '../src/client.js';
import { openJournal } from '../src/journal/open.js';
import { until } from '../test/support/world.js';
import { startModel } from './support/model.js';
import { type BenchOptions, progress } from './support/options.js';
import { cpuMs, memoryMb } from './support/processes.js';
import type { Cell, Report } from './support/report.js';
import { newServiceHome, type ServiceHome } from './support/service-home.js';
import { median } from './support/stats.js';
import { completed, startTask } from './support/tasks.js';

export const about = 'memory and idle CPU of the service, idle and with 100 tasks waiting; `tasks` with many tasks';

const AT_ONCE = 5;
/** What a task that has ended leaves: made in the journal, since running so many would take long. */
const CLOSED = 2_000;

export async function run(options: BenchOptions): Promise<Report> {
  const count = options.quick ? 3 : 100;
  const closed = options.quick ? 10 : CLOSED;
  const tries = options.rounds ?? (options.quick ? 1 : 5);
  const settleMs = options.quick ? 500 : 20_000;
  const model = await startModel();
  const own = newServiceHome(model);
  try {
    await own.cli('up');
    const { client, temporal, close } = await own.connect();
    try {
      const columns = [
        '',
        'supervisor RSS',
        'PSS',
        'Temporal RSS',
        'PSS',
        'worker RSS',
        'PSS',
        'CPU ms/s',
        'journal KB',
      ];
      const idle = await look(own, 'idle, before the first task', settleMs);
      const first = await asking(client, own.workspace());
      await answered(client, first);
      await completed(temporal, first, 2);
      const used = await look(own, 'idle, after one task', settleMs);
      const tasks = await inGroups(count, () => asking(client, own.workspace()));
      for (const task of tasks) await until(async () => (await client.openAsks(task)).length === 1);
      const waiting = await look(own, `${count} tasks waiting`, settleMs);
      const listed = await listMs(own, tries);
      await inGroups(count, (at) => answered(client, tasks[at]!));
      for (const task of tasks) await completed(temporal, task, 2);
      const after = await look(own, `${count} tasks answered and ended`, settleMs);
      await addClosed(own, closed);
      const listedAll = await listMs(own, tries);
      return {
        aims: [],
        tables: [
          { title: 'Memory, MB', columns, rows: [idle.row, used.row, waiting.row, after.row] },
          { title: 'A waiting task', columns: ['', 'KB'], rows: perTask(used, waiting, count) },
          {
            title: '`longhaul tasks`, ms',
            columns: ['tasks', 'median'],
            rows: [
              [`${count} waiting`, listed],
              [`${count} ended and ${closed.toLocaleString('en')} more`, listedAll],
            ],
          },
        ],
        notes: NOTES,
      };
    } finally {
      await close();
    }
  } finally {
    await own.remove();
    await model.stop();
  }
}

const ASK: [string, Record<string, unknown>] = [
  'ask_followup_question',
  { question: 'Which of the two?', options: ['the first', 'the second'] },
];

/** A task whose model asks a question, and completes it when that is answered. */
function asking(client: TaskClient, workspace: string): Promise<string> {
  return startTask(client, workspace, { turns: 1, call: ASK }, { yolo: false, approve: [] });
}

interface Look {
  row: Cell[];
  rss: { temporal: number; worker: number };
  journalBytes: number;
}

/** Lets the service settle, and says what it holds then and how busy it was meanwhile. */
async function look(own: ServiceHome, when: string, settleMs: number): Promise<Look> {
  const { pid, temporalPid, workerPid } = await own.state();
  const pids = [pid, temporalPid!, workerPid!];
  const busy = () => pids.reduce((total, one) => total + cpuMs(one), 0);
  await sleep(settleMs);
  const before = busy();
  await sleep(settleMs);
  const cpu = (busy() - before) / (settleMs / 1_000);
  const memory = pids.map(memoryMb);
  const journalBytes = own.journalBytes();
  progress(`${when}: ${memory.map(({ rss }) => Math.round(rss)).join(' + ')} MB`);
  return {
    row: [when, ...memory.flatMap(({ rss, pss }) => [Math.round(rss), Math.round(pss)]), cpu, journalBytes / 1024],
    rss: { temporal: memory[1]!.rss, worker: memory[2]!.rss },
    journalBytes,
  };
}

function perTask(before: Look, waiting: Look, count: number): Cell[][] {
  const each = (of: (look: Look) => number) => Math.round((of(waiting) - of(before)) / count);
  return [
    ['Temporal RSS', each(({ rss }) => rss.temporal * 1024)],
    ['worker RSS', each(({ rss }) => rss.worker * 1024)],
    ['journal', each(({ journalBytes }) => journalBytes / 1024)],
  ];
}

async function answered(client: TaskClient, task: string): Promise<void> {
  const [ask] = await until(async () => {
    const asks = await client.openAsks(task);
    return asks.length > 0 && asks;
  });
  await client.answer(task, { ask: ask!.id, answer: 'message', text: 'the first' });
}

/** Does it for 0, 1, … `count` - 1, a few at a time. */
async function inGroups<T>(count: number, act: (at: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  while (results.length < count) {
    const group = Array.from({ length: Math.min(AT_ONCE, count - results.length) }, (_, at) =>
      act(results.length + at),
    );
    results.push(...(await Promise.all(group)));
  }
  return results;
}

/** Adds tasks that have ended to the journal. */
async function addClosed({ home }: ServiceHome, count: number): Promise<void> {
  const journal = await openJournal({ home });
  const totals = {
    turns: 1,
    cost: 0,
    usage: { inputTokens: 0, outputTokens: 0, cacheWriteTokens: 0, cacheReadTokens: 0 },
  };
  for (let at = 0; at < count; at++) {
    const task = `closed-${String(at).padStart(5, '0')}`;
    await journal.createTask({ task, workspace: '/projects/one', model: 'm', title: 'Fix the test', input: '{}' });
    await journal.append(task, [{ event: { type: 'closed', outcome: { outcome: 'cancelled' }, totals } }]);
  }
  await journal.close();
}

async function listMs(own: ServiceHome, tries: number): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < tries; at++) {
    const began = performance.now();
    await own.cli('tasks');
    times.push(performance.now() - began);
  }
  return median(times);
}

const NOTES = [
  'RSS counts shared pages whole, PSS in parts; CPU is that of all three processes together, in ms a second.',
  'The journal includes its write-ahead log, which SQLite keeps at about 4 MB.',
];

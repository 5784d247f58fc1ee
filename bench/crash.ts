import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { TaskClient } from '../src/client.js';
import { isOpen } from '../src/domain/outcomes.js';
import { isOutput } from '../src/journal/streams.js';
import { until } from '../test/support/world.js';
import { type Model, startModel } from './support/model.js';
import { type BenchOptions, progress } from './support/options.js';
import type { Plan } from './support/plan.js';
import type { Aim, Report } from './support/report.js';
import { newServiceHome, type ServiceHome } from './support/service-home.js';
import { max, median } from './support/stats.js';
import { startTask } from './support/tasks.js';

export const about = 'kill -9 of the worker, the Temporal server or both, to the next action of the task';

/** The heartbeat timeout, and 2 s for all else. */
const MOST_MS = 17_000;
/** Longest wait for the next action. */
const PATIENCE_MS = 120_000;

interface Bench {
  own: ServiceHome;
  client: TaskClient;
  temporal: Client;
  model: Model;
}

interface Moment {
  name: string;
  victims: readonly ('worker' | 'temporal')[];
  plan: Omit<Plan, 'tag'>;
  /** Resolves when it is time to kill. */
  reached(bench: Bench, task: string, from: number): Promise<unknown>;
  /** ms from the kill to the next action. */
  recovered(bench: Bench, task: string, from: number, killed: number): Promise<number>;
}

const TEXT = Array.from({ length: 400 }, (_, at) => `word${at}`).join(' ');
/** About 8 s of text: the answer is cut in its middle. */
const STREAM: Omit<Plan, 'tag'> = {
  turns: 1,
  call: ['read_file', { path: 'notes.txt', end_line: '{{n}}' }],
  say: { text: TEXT, paceMs: 50 },
};
const LINES = 'for i in $(seq 600); do echo "line $i"; sleep 0.1; done';
const COMMAND: Omit<Plan, 'tag'> = {
  turns: 1,
  call: ['execute_command', { command: LINES, requires_approval: false }],
};
const TURNS: Omit<Plan, 'tag'> = { turns: 100_000, call: ['read_file', { path: 'notes.txt', end_line: '{{n}}' }] };

const MOMENTS: Moment[] = [
  {
    name: 'worker, while the answer streams',
    victims: ['worker'],
    plan: STREAM,
    reached: streams,
    recovered: nextRequest,
  },
  { name: 'worker, while a command runs', victims: ['worker'], plan: COMMAND, reached: runs, recovered: nextOutput },
  { name: 'worker, between turns', victims: ['worker'], plan: TURNS, reached: turnsGoBy, recovered: longestGap },
  { name: 'Temporal, between turns', victims: ['temporal'], plan: TURNS, reached: turnsGoBy, recovered: longestGap },
  {
    name: 'both, between turns',
    victims: ['worker', 'temporal'],
    plan: TURNS,
    reached: turnsGoBy,
    recovered: longestGap,
  },
];

export async function run(options: BenchOptions): Promise<Report> {
  const tries = options.rounds ?? (options.quick ? 1 : 5);
  const moments = options.quick ? MOMENTS.slice(3, 4) : MOMENTS;
  const model = await startModel();
  const own = newServiceHome(model);
  const times = new Map<string, number[]>(moments.map(({ name }) => [name, []]));
  try {
    await own.cli('up');
    const { client, temporal, close } = await own.connect();
    try {
      for (let at = 0; at < tries; at++) {
        for (const moment of moments) {
          const ms = await once({ own, client, temporal, model }, moment);
          progress(`${moment.name}: ${Math.round(ms)} ms`);
          times.get(moment.name)!.push(ms);
        }
      }
    } finally {
      await close();
    }
  } finally {
    await own.remove();
    await model.stop();
  }
  const rows = [...times].map(([what, all]) => [what, Math.min(...all), median(all), max(all)]);
  const columns = ['killed', 'least', 'median', 'most'];
  const title = `From kill -9 to the next action, ms (${tries} tries)`;
  return { aims: [...times].map(aimOf), tables: [{ title, columns, rows }], notes: NOTES };
}

function aimOf([what, all]: [string, number[]]): Aim {
  return { aim: `${what}: ≤ ${MOST_MS.toLocaleString('en')} ms`, measured: max(all), most: MOST_MS, unit: 'ms' };
}

async function once(bench: Bench, moment: Moment): Promise<number> {
  const { own, client, model } = bench;
  const from = await model.count();
  const task = await startTask(client, own.workspace(), moment.plan);
  await moment.reached(bench, task, from);
  const before = await own.state();
  const killed = Date.now();
  for (const victim of moment.victims) process.kill(before[`${victim}Pid`]!, 'SIGKILL');
  const ms = await moment.recovered(bench, task, from, killed);
  await until(async () => {
    const now = await own.state();
    return moment.victims.every((victim) => now[`${victim}Pid`] !== before[`${victim}Pid`]);
  });
  await ended(client, task);
  return ms;
}

/** Aborts the task, unless it has just completed, and waits for its end. */
async function ended(client: TaskClient, task: string): Promise<void> {
  const isDone = async () => {
    const row = await client.journal.getTask(task);
    return row !== undefined && !isOpen(row.status);
  };
  if (!(await isDone())) await client.abort(task).catch(() => undefined);
  await until(isDone, PATIENCE_MS);
}

function streams({ client }: Bench, task: string) {
  return until(async () => (await client.journal.readPartials(task, 0)).length > 5, PATIENCE_MS);
}

function runs({ client }: Bench, task: string) {
  return until(async () => (await outputs(client, task)).length > 5, PATIENCE_MS);
}

/** Kills between turns come at any moment of one. */
async function turnsGoBy({ model }: Bench, _task: string, from: number) {
  await until(async () => (await model.requests(from)).length > 10, PATIENCE_MS);
  await sleep(Math.random() * 200);
}

async function nextRequest({ model }: Bench, _task: string, from: number, killed: number): Promise<number> {
  const next = await until(async () => (await model.requests(from)).find(({ at }) => at > killed), PATIENCE_MS);
  return next.at - killed;
}

async function nextOutput({ client }: Bench, task: string, _from: number, killed: number): Promise<number> {
  const last = (await outputs(client, task)).at(-1)?.id ?? 0;
  await until(async () => (await outputs(client, task)).some(({ id }) => id > last), PATIENCE_MS);
  return Date.now() - killed;
}

async function outputs(client: TaskClient, task: string) {
  return (await client.journal.readPartials(task, 0)).filter(({ partial }) => isOutput(partial.stream));
}

/** Of the times between the kill and the requests after it: what had begun may still have been sent. */
async function longestGap({ model }: Bench, _task: string, from: number, killed: number): Promise<number> {
  const after = await until(async () => {
    const requests = (await model.requests(from)).filter(({ at }) => at > killed);
    return requests.length > 5 && requests;
  }, PATIENCE_MS);
  const times = [killed, ...after.map(({ at }) => at)];
  return max(times.slice(1).map((at, index) => at - times[index]!));
}

const NOTES = [
  'The next action is a request at the model, or, where a command runs, output of it in the task’s log. Commands themselves go on.',
  'Killed between turns: the longest time without a request, since one that had begun may still go out.',
  'The service starts what was killed again; nobody helps.',
];

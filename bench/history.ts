import { statSync } from 'node:fs';
import { homePaths } from '../src/settings/paths.js';
import { activityTimes, handedOver, historiesOf, payloadSizes, type TaskRun } from '../test/support/histories.js';
import { startWorld, type World } from '../test/support/world.js';
import { type Model, startModel } from './support/model.js';
import { type BenchOptions, progress } from './support/options.js';
import { phasesOf } from './support/phases.js';
import { cpuMs } from './support/processes.js';
import { profiling } from './support/profile.js';
import { type Aim, check, type Report, type Table } from './support/report.js';
import { type CpuSampler, sampleCpu } from './support/sampler.js';
import { interpolate, max, mean, median, sum } from './support/stats.js';
import { completed, startTask } from './support/tasks.js';

export const about = 'a task of 2,000 turns with 5 KB results: payloads, runs, and whether anything grows';

const FILES = 7;
/** About 5 KB with its line numbers. */
const CONTENT = `${'x'.repeat(90)}\n`.repeat(50);
/** Ceilings of docs/how-it-works.md and of the history of one run. */
const CEILING = { payload: 4_096, handedOver: 8_192, eventsATurn: 25, eventsARun: 1_600 };

export async function run(options: BenchOptions): Promise<Report> {
  const turns = options.turns?.[0] ?? (options.quick ? 8 : 2_000);
  const world = await startWorld();
  const model = await startModel();
  try {
    const worker = await world.worker({ node: profiling(options) });
    const sampler = sampleCpu({ worker: () => cpuMs(worker.pid), model: () => cpuMs(model.pid) });
    const before = journalBytes(world);
    const task = await longTask(world, model, turns);
    sampler.stop();
    const grown = journalBytes(world) - before;
    const runs = await historiesOf(world.temporal, task);
    const tables = [sizes(runs, turns, grown), await pace(world, model, { task, runs, turns, sampler })];
    if (options.cpuProfile !== undefined) await worker.stop();
    return { aims: aims(runs, turns, tables[1]!), tables, notes: NOTES };
  } finally {
    await model.stop();
    await world.stop();
  }
}

async function longTask(world: World, model: Model, turns: number): Promise<string> {
  const files = Object.fromEntries(Array.from({ length: FILES }, (_, at) => [`f${at}.txt`, CONTENT]));
  const workspace = world.workspace(files);
  const client = await world.client(model);
  const call: [string, Record<string, unknown>] = ['read_file', { path: 'f3.txt', end_line: '10{{n}}' }];
  const task = await startTask(client, workspace, { turns, call });
  const watch = setInterval(async () => progress(`${await model.count()} of ${turns + 1} requests`), 15_000);
  try {
    await completed(world.temporal, task, turns + 1);
  } finally {
    clearInterval(watch);
  }
  return task;
}

function sizes(runs: readonly TaskRun[], turns: number, journalGrown: number): Table {
  const payloads = runs.flatMap(({ events }) => events.flatMap(payloadSizes));
  const whole = runs.slice(0, -1);
  const rows = [
    ['runs', runs.length],
    ['largest payload, bytes', max(payloads)],
    ['largest continue-as-new input, bytes', max(runs.map(handedOver))],
    ['events a turn', sum(runs.map(({ events }) => events.length)) / (turns + 1)],
    ['history bytes a turn', sum(runs.map(({ bytes }) => bytes)) / (turns + 1)],
    ['events of the longest run', max(runs.map(({ events }) => events.length))],
    ['bytes of the first whole run', whole[0]?.bytes ?? Number.NaN],
    ['bytes of the last whole run', whole.at(-1)?.bytes ?? Number.NaN],
    ['journal bytes a turn', journalGrown / (turns + 1)],
  ];
  return { title: `History and journal of a task of ${turns} turns`, columns: ['', 'figure'], rows };
}

interface Done {
  task: string;
  runs: TaskRun[];
  turns: number;
  sampler: CpuSampler<'worker' | 'model'>;
}

/** How a turn changes in the course of a task. */
async function pace(world: World, model: Model, { task, runs, turns, sampler }: Done): Promise<Table> {
  const requests = await model.requests(0);
  const log = await world.journal.readEvents(task, 0);
  const activities = activityTimes(runs);
  const phases = phasesOf({ activities, log, requests });
  const starts = activities.filter(({ type }) => type === 'streamModel').map(({ scheduled }) => scheduled);
  check(starts.length === turns + 1, `${starts.length} requests are in the history, not ${turns + 1}.`);
  const rows = partsOf(turns).map(([from, to]) => {
    const at = (turn: number) => starts[turn]!;
    const cpu = (of: 'worker' | 'model') =>
      (interpolate(sampler[of], at(to)) - interpolate(sampler[of], at(from))) / (to - from);
    const part = phases.slice(from, to);
    const phase = (name: string) => mean(part.map((turn) => turn.get(name) ?? 0));
    return [
      `${from + 1}–${to}`,
      (at(to) - at(from)) / (to - from),
      median(part.map((turn) => sum([...turn.values()]))),
      phase('gather and claim'),
      phase('request to arrival'),
      phase('answer by the model'),
      cpu('worker'),
      cpu('model'),
      mean(requests.slice(from, to).map(({ bytes }) => bytes / 1024)),
    ];
  });
  const columns = [
    'turns',
    'ms a turn',
    'median',
    'gather, claim',
    'sending',
    'model',
    'worker CPU',
    'model CPU',
    'request KB',
  ];
  return { title: 'Pace, ms a turn', columns, rows };
}

/** The first, the third and the last hundred turns, and some between; tenths of a short task. */
function partsOf(turns: number): [from: number, to: number][] {
  const size = turns >= 1_000 ? 100 : Math.max(1, Math.floor(turns / 10));
  const parts = Math.floor(turns / size);
  const wanted = new Set([0, 2, Math.floor(parts / 4), Math.floor(parts / 2), Math.floor((3 * parts) / 4), parts - 1]);
  return [...wanted].filter((at) => at < parts).map((at) => [at * size, (at + 1) * size]);
}

function aims(runs: readonly TaskRun[], turns: number, pace: Table): Aim[] {
  const figure = (row: number, column: number) => Number(pace.rows.at(row)?.[column]);
  // what the model takes is no part of the product
  const own = (row: number) => figure(row, 1) - figure(row, 5);
  const bytes = (limit: number, measured: number, aim: string) => ({ aim, measured, most: limit, unit: 'bytes' });
  return [
    bytes(CEILING.payload, max(runs.flatMap(({ events }) => events.flatMap(payloadSizes))), 'largest payload: ≤ 4 KB'),
    bytes(CEILING.handedOver, max(runs.map(handedOver)), 'continue-as-new input: ≤ 8 KB'),
    {
      aim: 'events a turn: ≤ 25',
      measured: sum(runs.map(({ events }) => events.length)) / (turns + 1),
      most: CEILING.eventsATurn,
      unit: '',
    },
    {
      aim: 'events a run: ≤ 1,600',
      measured: max(runs.map(({ events }) => events.length)),
      most: CEILING.eventsARun,
      unit: '',
    },
    {
      aim: 'worker CPU, last turns to the third part: ≤ 1.1',
      measured: figure(-1, 6) / figure(1, 6),
      most: 1.1,
      unit: '×',
    },
    { aim: 'time without the model, the same: ≤ 1.1', measured: own(-1) / own(1), most: 1.1, unit: '×' },
  ];
}

function journalBytes(world: World): number {
  const { journal, partials } = homePaths(world.home);
  return sum([journal, `${journal}-wal`, partials, `${partials}-wal`].map(fileBytes));
}

const fileBytes = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

const NOTES = [
  'The first hundred turns fill the context window; after that the oldest turns are left out, so requests stay below its size.',
  'The scripted model checks each request whole, so its time grows with the request; it is a process of its own.',
];

import type { Client } from '@temporalio/client';
import type { TaskClient } from '../src/client.js';
import { activityTimes, historiesOf, type TaskRun } from '../test/support/histories.js';
import { startWorld, type World } from '../test/support/world.js';
import type { bareWorkflow } from './bare/workflows.js';
import { type Model, replay, startModel } from './support/model.js';
import { type BenchOptions, progress } from './support/options.js';
import { phasesOf } from './support/phases.js';
import { newTag, type Plan } from './support/plan.js';
import { cpuMs } from './support/processes.js';
import { profiling } from './support/profile.js';
import { type Program, startProgram } from './support/program.js';
import { type Aim, check, type Report, type Table } from './support/report.js';
import { mean, median, sum } from './support/stats.js';
import { completed, startTask } from './support/tasks.js';

export const about = 'a durable turn against a bare workflow with two activities a turn: time, CPU, history';

const BARE_QUEUE = 'bench-bare';
const VARIANTS = ['bare', 'read_file', 'write_to_file', 'execute_command'] as const;
type Variant = (typeof VARIANTS)[number];

const CALLS: Record<Exclude<Variant, 'bare'>, Plan['call']> = {
  read_file: ['read_file', { path: 'notes.txt', end_line: '{{n}}' }],
  write_to_file: ['write_to_file', { path: 'out.txt', content: 'Turn {{n}}\n' }],
  execute_command: ['execute_command', { command: 'true {{n}}', requires_approval: false }],
};

/** What one run of one variant has cost, per turn. */
interface Sample {
  /** ms from the start of one turn to the start of the next */
  period: number;
  workerCpu: number;
  serverCpu: number;
  events: number;
  bytes: number;
}

interface Bench {
  world: World;
  temporal: Client;
  client: TaskClient;
  model: Model;
  workerPid: number;
  bare: Program<unknown>;
}

export async function run(options: BenchOptions): Promise<Report> {
  const sizes = options.turns ?? (options.quick ? [3] : [20, 100, 400]);
  const world = await startWorld();
  const model = await startModel();
  let bare: Program<unknown> | undefined;
  try {
    bare = await startProgram(new URL('./bare/worker-process.ts', import.meta.url), [world.server.address, BARE_QUEUE]);
    const worker = await world.worker({ node: profiling(options) });
    const client = await world.client(model);
    const bench: Bench = { world, temporal: world.temporal, client, model, bare, workerPid: worker.pid };
    for (const variant of VARIANTS) await measure(bench, variant, options.quick ? 1 : 10);
    const samples = await alternate(bench, sizes, (turns) => options.rounds ?? (options.quick ? 1 : roundsOf(turns)));
    const report = reportOf(sizes, samples, [await floor(bench, sizes), await profile(bench, sizes.at(-1)!)]);
    if (options.cpuProfile !== undefined) await worker.stop();
    return report;
  } finally {
    await bare?.stop();
    await model.stop();
    await world.stop();
  }
}

/** Short tasks are quick to run, and what disturbs one of them disturbs it more. */
function roundsOf(turns: number): number {
  return turns <= 20 ? 9 : turns <= 100 ? 5 : 3;
}

type Samples = Map<string, Sample[]>;
const keyOf = (variant: Variant, turns: number) => `${variant} ${turns}`;

/** Each round measures every variant, so that what else the machine does meets all of them. */
async function alternate(bench: Bench, sizes: number[], roundsOf: (turns: number) => number): Promise<Samples> {
  const samples: Samples = new Map();
  for (const turns of sizes) {
    for (let round = 1; round <= roundsOf(turns); round++) {
      for (const variant of VARIANTS) {
        const sample = await measure(bench, variant, turns);
        progress(`${turns} turns, round ${round}, ${variant}: ${sample.period.toFixed(1)} ms a turn`);
        samples.set(keyOf(variant, turns), [...(samples.get(keyOf(variant, turns)) ?? []), sample]);
      }
    }
  }
  return samples;
}

async function measure(bench: Bench, variant: Variant, turns: number): Promise<Sample> {
  const { world, temporal } = bench;
  const pids = { worker: variant === 'bare' ? bench.bare.pid : bench.workerPid, server: world.server.pid };
  const before = { worker: cpuMs(pids.worker), server: cpuMs(pids.server) };
  const id = variant === 'bare' ? await runBare(temporal, turns) : await runTask(bench, CALLS[variant], turns);
  const after = { worker: cpuMs(pids.worker), server: cpuMs(pids.server) };
  const runs = await historiesOf(temporal, id);
  // a task has one turn more: the one that completes it
  const all = variant === 'bare' ? turns : turns + 1;
  return {
    period: periodOf(runs, all),
    workerCpu: (after.worker - before.worker) / all,
    serverCpu: (after.server - before.server) / all,
    events: sum(runs.map(({ events }) => events.length)) / all,
    bytes: sum(runs.map(({ bytes }) => bytes)) / all,
  };
}

async function runBare(temporal: Client, turns: number): Promise<string> {
  const workflowId = newTag();
  const start = { workflowId, taskQueue: BARE_QUEUE, args: [turns] as [number] };
  await temporal.workflow.execute<typeof bareWorkflow>('bareWorkflow', start);
  return workflowId;
}

async function runTask({ world, temporal, client }: Bench, call: Plan['call'], turns: number): Promise<string> {
  const workspace = world.workspace({ 'notes.txt': 'One line.\nAnother line.\n' });
  const task = await startTask(client, workspace, { turns, call });
  await completed(temporal, task, turns + 1);
  return task;
}

/** ms from the first turn's start to the last one's, for each turn between. */
function periodOf(runs: readonly TaskRun[], turns: number): number {
  const firsts = activityTimes(runs).filter(({ type }) => type === 'answer' || type === 'streamModel');
  check(firsts.length === turns, `${firsts.length} turns are in the history, not ${turns}.`);
  return (firsts.at(-1)!.scheduled - firsts[0]!.scheduled) / (turns - 1);
}

/** What the scripted model itself takes, asked by a plain HTTP client. */
async function floor({ model }: Bench, sizes: number[]): Promise<Table> {
  const rows: Table['rows'] = [];
  const times = await replay(model, await lastBodyOf(model));
  for (const turns of sizes) rows.push([turns, mean(times.slice(0, turns)), times[turns - 1] ?? Number.NaN]);
  return { title: 'The scripted model alone, ms a request', columns: ['turns', 'mean', 'last request'], rows };
}

async function lastBodyOf(model: Model): Promise<unknown> {
  const body = await model.lastBody();
  check(body !== undefined, 'The model has kept no request.');
  return body;
}

/** Where the time of a turn goes, over all turns of one more task. */
async function profile(bench: Bench, turns: number): Promise<Table> {
  const { world, temporal, model } = bench;
  const from = await model.count();
  const task = await runTask(bench, CALLS.read_file, turns);
  const requests = await model.requests(from);
  const activities = activityTimes(await historiesOf(temporal, task));
  const log = await world.journal.readEvents(task, 0);
  const phases = phasesOf({ activities, log, requests });
  const whole = mean(phases.map((turn) => sum([...turn.values()])));
  const names = [...phases[0]!.keys()];
  const rows = names.map((name) => {
    const values = phases.map((turn) => turn.get(name) ?? 0);
    return [name, mean(values), median(values), `${Math.round((100 * mean(values)) / whole)} %`];
  });
  const columns = ['phase', 'mean ms', 'median ms', 'share'];
  return {
    title: `Profile of a turn with read_file (${turns} turns)`,
    columns,
    rows: [...rows, ['whole turn', whole, '', '']],
  };
}

function reportOf(sizes: number[], samples: Samples, tables: Table[]): Report {
  const middle = (variant: Variant, turns: number, of: keyof Sample) =>
    median(samples.get(keyOf(variant, turns))!.map((sample) => sample[of]));
  const ratio = (variant: Variant, turns: number, of: (sample: Sample) => number) =>
    median(
      samples.get(keyOf(variant, turns))!.map((sample, at) => of(sample) / of(samples.get(keyOf('bare', turns))![at]!)),
    );
  const period = (sample: Sample) => sample.period;
  const cpu = (sample: Sample) => sample.workerCpu + sample.serverCpu;
  const rows = sizes.flatMap((turns) =>
    VARIANTS.map((variant) => [
      `${turns} × ${variant}`,
      middle(variant, turns, 'period'),
      ratio(variant, turns, period),
      middle(variant, turns, 'workerCpu'),
      middle(variant, turns, 'serverCpu'),
      ratio(variant, turns, cpu),
      middle(variant, turns, 'events'),
      middle(variant, turns, 'bytes'),
    ]),
  );
  const columns = [
    'turns',
    'ms a turn',
    'time to bare',
    'worker CPU ms',
    'server CPU ms',
    'CPU to bare',
    'events',
    'history bytes',
  ];
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  const growth = middle('read_file', most, 'period') / middle('read_file', least, 'period');
  const aims: Aim[] = sizes.map((turns) => ({
    aim: `read_file to bare, ${turns} turns: ≤ 2`,
    measured: ratio('read_file', turns, period),
    most: 2,
    unit: '×',
  }));
  aims.push({ aim: `a turn at ${most} turns to one at ${least}: ≤ 1.1`, measured: growth, most: 1.1, unit: '×' });
  aims.push({ aim: 'events a turn: ≤ 25', measured: middle('read_file', most, 'events'), most: 25, unit: '' });
  return { aims, tables: [{ title: 'Per turn', columns, rows }, ...tables], notes: NOTES };
}

const NOTES = [
  'Medians of all rounds; the ratio is the median of the ratios within each round.',
  'A turn lasts from the scheduling of its first activity to that of the next turn’s; CPU is that of the whole run.',
  'Phases come from clocks in ms (journal, model) and µs (history): single ones are off by up to 1 ms.',
];

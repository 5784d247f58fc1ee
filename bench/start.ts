import { type Model, startModel } from './support/model.js';
import { type BenchOptions, progress } from './support/options.js';
import { newTag, promptOf } from './support/plan.js';
import { type Aim, check, type Report } from './support/report.js';
import { newServiceHome, type ServiceHome } from './support/service-home.js';
import { max, median } from './support/stats.js';

export const about = 'from a command to the first model request, cold and warm; how long small commands take';

/** ms of each try. */
type Times = Map<string, number[]>;

export async function run(options: BenchOptions): Promise<Report> {
  const tries = options.rounds ?? (options.quick ? 1 : 7);
  const model = await startModel();
  const times: Times = new Map();
  const add = (what: string, ms: number) => {
    progress(`${what}: ${Math.round(ms)} ms`);
    times.set(what, [...(times.get(what) ?? []), ms]);
  };
  try {
    for (let at = 0; at < tries; at++) {
      const own = newServiceHome(model);
      try {
        add('run, no service yet', await toFirstRequest(own, model));
        add('run, service up', await toFirstRequest(own, model));
        add('tasks', await wallMs(own, ['tasks']));
        add('--help', await wallMs(own, ['--help']));
        add('--version', await wallMs(own, ['--version']));
        add('down', await wallMs(own, ['down']));
        add('up', await wallMs(own, ['up']));
      } finally {
        await own.remove();
      }
    }
  } finally {
    await model.stop();
  }
  const rows = [...times].map(([what, all]) => [what, Math.min(...all), median(all), max(all)]);
  const columns = ['', 'least', 'median', 'most'];
  return { aims: aims(times), tables: [{ title: `Start, ms (${tries} tries)`, columns, rows }], notes: NOTES };
}

/** ms from the start of `longhaul run` to the arrival of the task's first request at the model. */
async function toFirstRequest(own: ServiceHome, model: Model): Promise<number> {
  const from = await model.count();
  const prompt = promptOf({ tag: newTag(), turns: 0, call: ['read_file', {}] });
  const began = Date.now();
  await own.cli('run', '--yolo', '--json', '--workspace', own.workspace(), prompt);
  const [first] = await model.requests(from);
  check(first !== undefined, 'The task has ended without a request to the model.');
  return first.at - began;
}

async function wallMs(own: ServiceHome, args: string[]): Promise<number> {
  const began = performance.now();
  await own.cli(...args);
  return performance.now() - began;
}

function aims(times: Times): Aim[] {
  const aim = (what: string, most: number) => ({
    aim: `${what}: ≤ ${most.toLocaleString('en')} ms`,
    measured: median(times.get(what)!),
    most,
    unit: 'ms',
  });
  return [aim('run, no service yet', 8_000), aim('run, service up', 2_000), aim('--help', 150)];
}

const NOTES = [
  'The rows with `run` end when the first request arrives at the model; the others when the command has ended.',
  'Each try has a new home; Temporal’s executable is there. Aims are held against the median.',
];

import * as crash from './crash.js';
import * as edit from './edit.js';
import * as history from './history.js';
import * as latency from './latency.js';
import * as memory from './memory.js';
import * as parse from './parse.js';
import * as start from './start.js';
import { load, taken } from './support/machine.js';
import { type BenchOptions, OPTIONS_HELP, parseOptions, progress } from './support/options.js';
import { BenchFailed, check, markdown, type Report } from './support/report.js';
import * as turn from './turn.js';

interface Bench {
  about: string;
  run(options: BenchOptions): Promise<Report>;
}

const BENCHES: Record<string, Bench> = { turn, history, start, memory, crash, parse, latency, edit };

/** Runs the benches named in `args`, or lists them. @returns the exit code */
export async function main(args: string[]): Promise<number> {
  let parsed: ReturnType<typeof parseOptions>;
  try {
    parsed = parseOptions(args);
  } catch (err) {
    // Node's advice about options that are none does not fit here
    return wrongUsage(err instanceof Error ? err.message.replace(/\. To specify .*/s, '.') : String(err));
  }
  const { names, options } = parsed;
  if (names.length === 0) {
    process.stdout.write(`${usage()}\n`);
    return 0;
  }
  const unknown = names.find((name) => name !== 'all' && !Object.hasOwn(BENCHES, name));
  if (unknown !== undefined) return wrongUsage(`there is no bench "${unknown}"`);
  const wanted = names.includes('all') ? Object.keys(BENCHES) : names;
  try {
    await runAll(wanted, options, args);
    return 0;
  } catch (err) {
    const said = err instanceof BenchFailed ? err.message : err instanceof Error ? err.stack : String(err);
    process.stderr.write(`The bench has failed: ${said}\n`);
    return 1;
  }
}

async function runAll(names: string[], options: BenchOptions, args: string[]): Promise<void> {
  check(process.platform === 'linux', 'CPU and memory come from /proc, so the benches run on Linux only.');
  const figures: Record<string, unknown> = {};
  for (const name of names) {
    progress(`bench ${name}`);
    const before = load();
    const report = await BENCHES[name]!.run(options);
    const how = taken(args, before);
    if (options.json) figures[name] = { taken: how, ...report };
    else process.stdout.write(`${markdown(name, how, report)}\n\n`);
  }
  if (options.json) process.stdout.write(`${JSON.stringify({ v: 1, benches: figures })}\n`);
}

function wrongUsage(message: string): number {
  process.stderr.write(`error: ${message}\n\n${usage()}\n`);
  return 2;
}

function usage(): string {
  const list = Object.entries(BENCHES).map(([name, { about }]) => `  ${name.padEnd(9)} ${about}`);
  return `Usage: npm run bench -- NAME... | all [options]\n\n${list.join('\n')}\n\n${OPTIONS_HELP}`;
}

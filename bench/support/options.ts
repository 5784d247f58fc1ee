import { parseArgs } from 'node:util';

export interface BenchOptions {
  /** Tiny sizes: shows that the bench works, its figures say little. */
  quick: boolean;
  json: boolean;
  /** Replaces the number of rounds or tries. */
  rounds?: number;
  /** Replaces the numbers of turns. */
  turns?: number[];
  /** Folder for V8 CPU profiles of the worker. */
  cpuProfile?: string;
}

export const OPTIONS_HELP = `  --quick           tiny sizes, to see that it works
  --json            the figures as one JSON object
  --rounds N        rounds or tries of each measurement
  --turns N[,N...]  numbers of turns (turn, history)
  --cpu-prof DIR    write CPU profiles of the worker (turn, history)`;

/** @throws TypeError for a flag or a value that is none */
export function parseOptions(args: string[]): { names: string[]; options: BenchOptions } {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      turns: { type: 'string' },
      'cpu-prof': { type: 'string' },
    },
  });
  const options: BenchOptions = { quick: values.quick, json: values.json };
  if (values.rounds !== undefined) options.rounds = countOf('--rounds', values.rounds);
  if (values.turns !== undefined) options.turns = values.turns.split(',').map((text) => countOf('--turns', text));
  if (values['cpu-prof'] !== undefined) options.cpuProfile = values['cpu-prof'];
  return { names: positionals, options };
}

function countOf(flag: string, text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new TypeError(`${flag} needs a whole number from 1, not "${text}"`);
}

/** Progress goes to stderr, so that stdout is the report alone. */
export function progress(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

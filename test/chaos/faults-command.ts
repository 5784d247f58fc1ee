import { parseArgs } from 'node:util';
import { FAULTS, type FaultKind } from './faults.js';
import { type MatrixOptions, matrixTable, runMatrix } from './matrix.js';

const USAGE = `Usage: npm run chaos -- faults [--faults N] [--tasks N] [--seed N] [--only "${FAULTS.join('" | "')}"]`;
/** 1,050 exposures of 150 faults. */
const DEFAULTS = { faults: 150, tasks: 7, seed: 1 };

/** Many tasks, and faults that strike at seeded moments. Prints what each did to which class of effects. @returns the exit code */
export async function playFaults(args: string[]): Promise<number> {
  const options = optionsOf(args);
  if (options === undefined) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  process.stdout.write(`seed ${options.seed}\n`);
  const result = await runMatrix({ ...options, log: (line) => process.stdout.write(`${line}\n`) });
  process.stdout.write(`\n${matrixTable(result)}\n\n`);
  for (const problem of result.problems) process.stdout.write(`${problem}\n`);
  process.stdout.write(`${result.exposures} exposures, ${result.problems.length} problems\n`);
  return result.problems.length === 0 ? 0 : 1;
}

function optionsOf(args: string[]): MatrixOptions | undefined {
  try {
    const options = {
      faults: { type: 'string' },
      tasks: { type: 'string' },
      seed: { type: 'string' },
      only: { type: 'string' },
    } as const;
    const { only, ...given } = parseArgs({ args, options }).values;
    const numbers = {
      ...DEFAULTS,
      ...Object.fromEntries(Object.entries(given).map(([name, text]) => [name, Number(text)])),
    };
    const kinds: readonly FaultKind[] = FAULTS.filter((kind) => only === undefined || kind === only);
    const areFine = Object.values(numbers).every((number) => Number.isInteger(number) && number > 0);
    return areFine && kinds.length > 0 ? { ...numbers, kinds } : undefined;
  } catch {
    return undefined;
  }
}

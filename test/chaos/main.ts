import { parseArgs } from 'node:util';
import { messageOf } from '../../src/domain/errors.js';
import { FaultPoints } from './points.js';

const USAGE = 'Usage: npm run chaos [-- --point N]';

/**
 * Kills the worker at every point of the task, or at one. Progress goes to stdout.
 * @returns the exit code
 */
export async function main(args: string[]): Promise<number> {
  const only = pointOf(args);
  if (only === 'wrong') {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const faults = await FaultPoints.open();
  try {
    const count = await faults.count();
    const points = only === undefined ? Array.from({ length: count }, (_, at) => at + 1) : [only];
    let failed = 0;
    for (const n of points) if (!(await killAt(faults, n, count))) failed++;
    process.stdout.write(`${points.length} points, ${failed} failed\n`);
    return failed === 0 ? 0 : 1;
  } finally {
    await faults.close();
  }
}

async function killAt(faults: FaultPoints, n: number, count: number): Promise<boolean> {
  const started = Date.now();
  try {
    const { where = 'not reached', differences } = await faults.kill(n);
    const details = [where, ...differences, `${((Date.now() - started) / 1000).toFixed(1)} s`].join('; ');
    process.stdout.write(`point ${n}/${count} ok (${details})\n`);
    return true;
  } catch (err) {
    process.stdout.write(`point ${n}/${count} failed: ${messageOf(err)}\n`);
    return false;
  }
}

function pointOf(args: string[]): number | undefined | 'wrong' {
  try {
    const { point } = parseArgs({ args, options: { point: { type: 'string' } } }).values;
    if (point === undefined) return undefined;
    return /^[1-9]\d{0,5}$/.test(point) ? Number(point) : 'wrong';
  } catch {
    return 'wrong';
  }
}

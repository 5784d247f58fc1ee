import { parseArgs } from 'node:util';
import { messageOf } from '../../src/domain/errors.js';
import { FAULTS, type Fault, FaultPoints, isOfAttempt } from './points.js';

const USAGE = `Usage: npm run chaos -- points [--point N] [--fault "${FAULTS.join('" | "')}"] [--lanes N]`;
/** Servers and homes side by side: most of the time goes by waiting for what a dead or silent worker held. */
const LANES = 4;

interface Plan {
  point: number | undefined;
  faults: readonly Fault[];
  lanes: number;
}

/**
 * Kills the worker at every point of the task, or at one, and stops it there. Progress goes to stdout.
 * @returns the exit code
 */
export async function playPoints(args: string[]): Promise<number> {
  const plan = planOf(args);
  if (plan === undefined) {
    process.stderr.write(`${USAGE}\n`);
    return 2;
  }
  const lanes = await Promise.all(Array.from({ length: plan.lanes }, () => FaultPoints.open()));
  try {
    const [names = []] = await Promise.all(lanes.map((lane) => lane.count()));
    const left = plan.faults.flatMap((fault) => placesOf(fault, plan.point, names).map((n) => ({ n, fault })));
    const all = left.length;
    let failed = 0;
    const work = async (lane: FaultPoints) => {
      for (let next = left.shift(); next; next = left.shift()) {
        if (!(await faultAt(lane, next.n, next.fault, names))) failed++;
      }
    };
    await Promise.all(lanes.map(work));
    process.stdout.write(`${all} points, ${failed} failed\n`);
    return failed === 0 ? 0 : 1;
  } finally {
    await Promise.all(lanes.map((lane) => lane.close()));
  }
}

/** @returns points from 1 */
function placesOf(fault: Fault, only: number | undefined, names: readonly string[]): number[] {
  if (only !== undefined) return [only];
  return names.flatMap((name, at) => (fault === 'kill' || isOfAttempt(name) ? [at + 1] : []));
}

async function faultAt(lane: FaultPoints, n: number, fault: Fault, names: readonly string[]): Promise<boolean> {
  const started = Date.now();
  const what = `${fault}, point ${n}/${names.length}`;
  try {
    const { where = 'not reached', differences } = await lane.run(n, fault);
    const details = [where, ...differences, `${((Date.now() - started) / 1000).toFixed(1)} s`].join('; ');
    process.stdout.write(`${what} ok (${details})\n`);
    return true;
  } catch (err) {
    process.stdout.write(`${what} failed (about ${names[n - 1] ?? '?'}): ${messageOf(err)}\n`);
    return false;
  }
}

function planOf(args: string[]): Plan | undefined {
  try {
    const options = { point: { type: 'string' }, fault: { type: 'string' }, lanes: { type: 'string' } } as const;
    const { point, fault, lanes = String(LANES) } = parseArgs({ args, options }).values;
    const faults = FAULTS.filter((one) => fault === undefined || one === fault);
    const isNumber = (text: string) => /^[1-9]\d{0,5}$/.test(text);
    if (faults.length === 0 || !isNumber(lanes) || !(point === undefined || isNumber(point))) return undefined;
    return { point: point === undefined ? undefined : Number(point), faults, lanes: Number(lanes) };
  } catch {
    return undefined;
  }
}

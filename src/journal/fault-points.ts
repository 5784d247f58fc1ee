import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync } from 'node:fs';

/**
 * Places at which a worker can be told to kill itself, for tests of crashes: with `LONGHAUL_FAULT_POINT=n` in its
 * environment it does so at the n-th one that it passes in an activity. `LONGHAUL_FAULT_LOG` names a file that gets a line
 * for each one. Without these variables nothing is counted.
 */
const point = Number(process.env.LONGHAUL_FAULT_POINT) || 0;
const log = process.env.LONGHAUL_FAULT_LOG;
const inActivity = point > 0 || log ? new AsyncLocalStorage<true>() : undefined;
let passed = 0;

/** Runs an activity, in which points count. */
export function withFaultPoints<T>(activity: () => Promise<T>): Promise<T> {
  return inActivity ? inActivity.run(true, activity) : activity();
}

export function faultPoint(name: string): void {
  if (!inActivity?.getStore()) return;
  passed++;
  if (log) appendFileSync(log, `${name}\n`);
  if (passed === point) process.kill(process.pid, 'SIGKILL');
}

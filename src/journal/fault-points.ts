import { AsyncLocalStorage } from 'node:async_hooks';
import { writeSync } from 'node:fs';

/**
 * For tests of crashes: with `LONGHAUL_FAULT_POINT=n` in its environment a worker sends itself `LONGHAUL_FAULT_SIGNAL`
 * (default SIGKILL) at the n-th point of its tasks' work, and names each one on stderr before; 0 only names them.
 * Without it nothing is counted.
 */
const wanted = process.env.LONGHAUL_FAULT_POINT;
const signal = process.env.LONGHAUL_FAULT_SIGNAL || 'SIGKILL';

/** Names the activity that something is done for. */
const activity = wanted === undefined ? undefined : new AsyncLocalStorage<string>();

let reached = 0;

/** What `run` does, whenever it does it, is a task's work. Its beginning and end are points. */
export function asTaskWork<T>(name: string, run: () => Promise<T>): Promise<T> {
  return activity ? activity.run(name, () => between('activity', run)) : run();
}

/** The moments before and after `run` are points where it is a task's work; a worker has other work as well. */
export function faultPoints<T>(what: string, run: () => Promise<T>): Promise<T> {
  return activity?.getStore() === undefined ? run() : between(what, run);
}

async function between<T>(what: string, run: () => Promise<T>): Promise<T> {
  reach(`before ${what}`);
  try {
    return await run();
  } finally {
    reach(`after ${what}`);
  }
}

function reach(where: string): void {
  reached++;
  // not console: it may still be on its way when the process ends
  writeSync(2, `fault point ${reached}: ${where}, ${activity?.getStore()}\n`);
  if (reached === Number(wanted)) process.kill(process.pid, signal);
}

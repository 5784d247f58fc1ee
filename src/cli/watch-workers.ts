import { isServed } from '../client/served.js';
import { type Journal, LOCAL_SERVER } from '../journal/journal.js';
import type { View } from './view.js';

/** A lease is 10 s, renewed every 3 s. */
const LOOK_MS = 5000;

/** A look finds nobody while a worker is being replaced; after so many in a row people are told. */
const EMPTY_LOOKS = 2;

export interface Watched {
  journal: Pick<Journal, 'getTask' | 'liveWorkers'>;
  task: string;
  view: Pick<View, 'notice'>;
  /** How this command line is called. */
  command: string;
  /** Gets what a look has failed with. */
  fail: (err: unknown) => void;
}

/**
 * Tells viewers of a task when nobody works on it: at once, when it is so from the beginning.
 * @returns what ends the watch, after a first look
 */
export async function watchWorkers({ journal, task, view, command, fail }: Watched): Promise<() => void> {
  let stopped = false;
  let empty = EMPTY_LOOKS - 1;
  const look = async () => {
    const row = await journal.getTask(task);
    if (!row) return;
    const was = empty;
    empty = isServed(row, await journal.liveWorkers()) ? 0 : empty + 1;
    if (stopped) return;
    if (empty === EMPTY_LOOKS) {
      const start = row.server === LOCAL_SERVER ? 'up' : 'worker';
      view.notice('no_worker', `No worker is alive; the task waits for one (${command} ${start}).`);
    }
    if (empty === 0 && was >= EMPTY_LOOKS) view.notice('worker_back', 'A worker is there again.');
  };
  await look();
  const timer = setInterval(() => void look().catch((err: unknown) => stopped || fail(err)), LOOK_MS);
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}

import { TaskClient } from '../client.js';
import { isOpen } from '../domain/outcomes.js';
import { LogState, storedEvents } from '../journal/log-state.js';
import { HumanView } from './human-view.js';
import type { Io } from './io.js';
import { JsonView } from './json-view.js';
import { StopSignals } from './signals.js';
import { requireTask } from './task-row.js';
import type { View } from './view.js';
import { watchWorkers } from './watch-workers.js';

export interface LogFlags {
  from?: number;
  follow?: boolean;
  json?: boolean;
}

/** Prints the stored log; needs no service. With `follow` it goes on until the task ends or a signal comes. */
export async function logCommand(io: Io, home: string, prefix: string, flags: LogFlags): Promise<number> {
  const client = await TaskClient.local({ home, env: io.env });
  const { journal } = client;
  try {
    const task = await client.resolve(prefix);
    const view: View = flags.json ? new JsonView(io) : new HumanView(io, journal, { times: true });
    const state = new LogState();
    const from = flags.from ?? 1;
    for await (const stored of storedEvents(journal, task)) {
      state.apply(stored);
      if (stored.seq >= from) await view.event(stored);
    }
    if (!flags.follow || !isOpen((await requireTask(journal, task)).status)) return 0;
    const signals = new StopSignals(io);
    const tailing = new AbortController();
    signals.handle(() => tailing.abort());
    let failure: unknown;
    const fail = (err: unknown) => {
      failure = err;
      tailing.abort();
    };
    const unwatch = await watchWorkers({ journal, task, view, command: io.command, fail });
    try {
      for await (const item of journal.tail(task, state.seq, tailing.signal)) {
        if ('partial' in item) {
          await view.partial(item.partial);
          continue;
        }
        if (item.event.seq >= from) await view.event(item.event);
        if (item.event.event.type === 'closed') return 0;
      }
      if (failure !== undefined) throw failure;
      return 0;
    } finally {
      unwatch();
      signals.dispose();
    }
  } finally {
    await client.close();
  }
}

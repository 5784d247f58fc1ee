import { TaskClient } from '../client.js';
import type { StoredEvent } from '../domain/events.js';
import { isOpen } from '../domain/outcomes.js';
import type { Journal } from '../journal/journal.js';
import { storedEvents } from '../journal/log-state.js';
import { HumanView } from './human-view.js';
import type { Io } from './io.js';
import { JsonView } from './json-view.js';
import { StopSignals } from './signals.js';
import { requireTask, serviceRuns } from './task-row.js';
import { TaskWatch } from './task-watch.js';
import type { View } from './view.js';

export interface LogFlags {
  from?: number;
  follow?: boolean;
  full?: boolean;
  json?: boolean;
}

/** Prints the stored log; needs no service. With `follow` it goes on until the task ends or a signal comes. */
export async function logCommand(io: Io, home: string, prefix: string, flags: LogFlags): Promise<number> {
  const client = await TaskClient.local({ home, env: io.env });
  const { journal } = client;
  try {
    const task = await client.resolve(prefix);
    const view = flags.json ? new JsonView(io) : new HumanView(io, journal, { times: true, full: flags.full ?? false });
    const stop = new AbortController();
    const fail = (err: unknown) => stop.abort(err);
    const watch = new TaskWatch({ io, journal, task, view, serviceRuns: serviceRuns(home), fail });
    const show = async (stored: StoredEvent) => {
      watch.event(stored);
      if (stored.seq >= (flags.from ?? 1)) await view.event(stored);
    };
    let seq = 0;
    for await (const stored of storedEvents(journal, task)) {
      await show(stored);
      seq = stored.seq;
    }
    if (!flags.follow || !isOpen((await requireTask(journal, task)).status)) return 0;
    const signals = new StopSignals(io);
    signals.handle((signal) => stop.abort(signal));
    await watch.start();
    try {
      await followLog({ journal, task, after: seq, view, watch, stop: stop.signal }, show);
    } finally {
      watch.stop();
      signals.dispose();
    }
    if (stop.signal.reason instanceof Error) throw stop.signal.reason;
    return 0;
  } finally {
    await client.close();
  }
}

interface Followed {
  journal: Journal;
  task: string;
  after: number;
  view: View;
  watch: TaskWatch;
  stop: AbortSignal;
}

async function followLog(of: Followed, show: (stored: StoredEvent) => Promise<void>): Promise<void> {
  for await (const item of of.journal.tail(of.task, of.after, of.stop)) {
    if ('event' in item) {
      await show(item.event);
      if (item.event.event.type === 'closed') return;
    } else {
      of.watch.partial(item.partial);
      await of.view.partial(item.partial);
    }
  }
}

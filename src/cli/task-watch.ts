import { isRowServed } from '../client/served.js';
import { LonghaulError } from '../domain/errors.js';
import type { Partial, StoredEvent } from '../domain/events.js';
import { isOpen } from '../domain/outcomes.js';
import type { Journal } from '../journal/journal.js';
import { LOCAL_SERVER } from '../journal/rows.js';
import { Activity } from './activity.js';
import { HumanView } from './human-view.js';
import type { Io } from './io.js';
import { Progress } from './progress.js';
import { clock, duration } from './text.js';
import type { View } from './view.js';

const LOOK_MS = 2000;
/** Looks without a worker before that is said: one that died is replaced within a few seconds. */
const EMPTY_LOOKS = 3;

export interface WatchOptions {
  io: Io;
  journal: Journal;
  task: string;
  view: View;
  /** Whether the local service runs; without it that is not looked at. */
  serviceRuns?: (() => Promise<boolean>) | undefined;
  /** Gets what makes it useless to go on, such as a journal that was taken away. */
  fail: (err: unknown) => void;
}

/** What a viewer knows beside the task log: what goes on just now, and whether anybody works on it. */
export class TaskWatch {
  private readonly activity = new Activity();
  private readonly progress: Progress | undefined;
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private emptyLooks = 0;
  private emptySince: number | undefined;
  private said: 'no worker' | 'no service' | undefined;

  constructor(private readonly o: WatchOptions) {
    if (o.view instanceof HumanView) this.progress = new Progress(o.io, o.view.screen, this.activity);
  }

  event(stored: StoredEvent): void {
    this.activity.apply(stored);
  }

  partial(partial: Partial): void {
    this.activity.partial(partial);
  }

  /** Looks at once: where nobody works from the beginning, that is said before anything else. */
  async start(): Promise<void> {
    this.progress?.start();
    this.emptyLooks = EMPTY_LOOKS - 1;
    await this.looked();
    this.next();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
    this.progress?.stop();
  }

  private next(): void {
    this.timer = setTimeout(async () => {
      await this.looked();
      if (!this.stopped) this.next();
    }, LOOK_MS);
  }

  private async looked(): Promise<void> {
    try {
      await this.look();
    } catch (err) {
      // another program may hold the journal for a while
      if (!(LonghaulError.is(err) && err.slug === 'journal-locked') && !this.stopped) this.o.fail(err);
    }
  }

  private async look(): Promise<void> {
    const { journal, task, serviceRuns } = this.o;
    await journal.check();
    const row = await journal.getTask(task);
    if (!row || !isOpen(row.status) || this.stopped) return;
    if (isRowServed(row, await journal.liveWorkers())) {
      this.served();
      return;
    }
    this.emptySince ??= Date.now();
    const local = row.server === LOCAL_SERVER;
    if (local && serviceRuns && !(await serviceRuns())) {
      // when it has come back it gets the time to start its worker
      this.emptyLooks = 0;
      this.unserved('no service', local);
    } else if (++this.emptyLooks >= EMPTY_LOOKS) this.unserved('no worker', local);
  }

  private served(): void {
    const since = this.emptySince;
    if (this.said && since !== undefined) {
      this.o.view.notice('worker_back', `Back again, after ${duration(Date.now() - since)}.`);
    }
    this.said = undefined;
    this.emptySince = undefined;
    this.emptyLooks = 0;
    this.activity.unserved(undefined);
  }

  private unserved(what: 'no worker' | 'no service', local: boolean): void {
    if (this.said === what || this.stopped) return;
    this.said = what;
    const since = this.emptySince ?? Date.now();
    this.activity.unserved(what, since);
    const { command } = this.o.io;
    const text =
      what === 'no service'
        ? `The service is not running (stopped or killed): the task goes on at the next \`${command} up\`.`
        : `No worker since ${clock(since)}: the task waits for one (\`${command} ${local ? 'up' : 'worker'}\`).`;
    this.o.view.notice('no_worker', text);
  }
}

import { LonghaulError } from '../domain/errors.js';
import type { Outcome } from '../domain/outcomes.js';
import type { TaskInput } from '../domain/task.js';
import { type Journal, WorkspaceInUse } from '../journal/journal.js';
import { readService } from '../service/up.js';
import { cutOff, inUse, unsure } from './errors.js';
import { explain, failureOf } from './explain.js';
import type { Place } from './provider.js';
import { shownStatus } from './served.js';
import type { TemporalTasks } from './temporal-tasks.js';
import type { ClientOptions } from './types.js';

/**
 * An update that was not taken so soon is refused: the server keeps one that found no worker, and it must not be applied
 * after its sender was told that it was not sent. Below the limit of the call itself (`UPDATE_MS`), ms.
 */
const TAKEN_MS = 9_000;

/** What a client's calls have in common: the journal, the connection to Temporal, and what errors of it mean. */
export class Link {
  private temporal: Promise<TemporalTasks> | undefined;

  constructor(
    readonly journal: Journal,
    readonly home: string,
    readonly env: NodeJS.ProcessEnv,
    private readonly slow: Pick<ClientOptions, 'log' | 'progress'>,
  ) {}

  get place(): Place {
    return { home: this.home, env: this.env };
  }

  /** `host:port` of Temporal; undefined until it has been connected to. */
  get address(): Promise<string | undefined> {
    return this.temporal?.then((temporal) => temporal.address) ?? Promise.resolve(undefined);
  }

  async tasks(): Promise<TemporalTasks> {
    const known = this.temporal;
    const open = await known?.catch(() => undefined);
    // the local service may have been stopped, or started again at another address
    const gone = open?.embedded && (await readService(this.home))?.address !== open.address;
    if (gone && this.temporal === known) await this.disconnect();
    if (this.temporal) return this.temporal;
    const opening = import('./temporal-tasks.js').then(({ TemporalTasks }) =>
      TemporalTasks.open({ home: this.home, env: this.env, ...this.slow }),
    );
    this.temporal = opening;
    // a later call tries again
    opening.catch(() => {
      if (this.temporal === opening) this.temporal = undefined;
    });
    return opening;
  }

  async disconnect(): Promise<void> {
    const old = this.temporal;
    this.temporal = undefined;
    await old?.then((temporal) => temporal.close()).catch(() => undefined);
  }

  /**
   * An update that is not applied later than its caller waits for.
   * @throws what the server or the task answers; {@link meaning} says what that is for people
   */
  async update<Reply>(task: string, name: string, argument: object, doneMs?: number): Promise<Reply> {
    const temporal = await this.tasks();
    return temporal.update<Reply>(task, name, { ...argument, notAfter: Date.now() + TAKEN_MS }, doneMs);
  }

  /** What a failed call means for people. The server may come back elsewhere, so the connection to one that is gone is given up. */
  async meaning(task: string, err: unknown): Promise<unknown> {
    const late = !LonghaulError.is(err) && (await failureOf(err)).kind === 'timeout';
    const meant = late && !(await this.answers(task)) ? cutOff(err) : await explain(this.journal, task, err);
    if (LonghaulError.is(meant) && meant.slug === 'temporal-unreachable') {
      await this.disconnect();
    }
    return meant;
  }

  /** Whether the server answers at all: a call that no worker takes ends like one that finds no server. */
  private async answers(task: string): Promise<boolean> {
    const temporal = await this.temporal?.catch(() => undefined);
    const looked = temporal?.look(task).then(
      () => true,
      () => false,
    );
    return (await looked) ?? false;
  }

  /** Ends the task in the journal when its workflow has ended without its doing. @returns whether it did */
  async settle(task: string): Promise<boolean> {
    const row = await this.journal.getTask(task);
    if (row === undefined) return false;
    try {
      return await (await this.tasks()).reconcile(this.journal, row);
    } catch (err) {
      throw await this.meaning(task, err);
    }
  }

  /** Stores what takes a folder. One task a folder; one whose workflow is gone is in nobody's way. @throws LonghaulError `workspace-in-use` */
  async taking<T>(store: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await store();
      } catch (err) {
        if (!(err instanceof WorkspaceInUse)) throw err;
        if (await this.settle(err.task)) continue;
        const other = await this.journal.getTask(err.task);
        if (other) throw inUse(err, shownStatus(other, await this.journal.liveWorkers()));
      }
    }
  }

  /**
   * @param before how the task had ended before this run
   * @returns the id of the run
   */
  async startRun(input: TaskInput, title: string, before?: Outcome): Promise<string> {
    try {
      return await (await this.tasks()).start(input, title);
    } catch (err) {
      // it may have been started all the same: reconciling finds out
      if ((await failureOf(err)).kind === 'timeout') throw unsure(input.task, err);
      const failed = { outcome: 'failed', class: 'internal', message: 'The workflow could not be started.' } as const;
      const totals = await this.journal.totals(input.task);
      const turns = input.state?.turns ?? 0;
      const outcome = before ?? failed;
      await this.journal.append(input.task, [{ event: { type: 'closed', outcome, totals: { ...totals, turns } } }]);
      throw err;
    }
  }
}

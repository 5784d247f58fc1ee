import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../domain/errors.js';
import type { RunningChild } from './child.js';
import { type ChildTrouble, LASTING_MS } from './service.js';

/** ms between a death and the next start: doubled each time, from the first again after a life that lasted. */
const BACKOFF = { first: 200, most: 5_000 } as const;

export interface KeeperOptions<T extends RunningChild> {
  /** For the log: `Temporal server`, `worker`. */
  title: string;
  /** Starts the child and waits until it is of use; `spawned` is told of the process at once. */
  start(spawned: (child: RunningChild) => void): Promise<T>;
  /** Called with the process right after each spawn. */
  onSpawn(child: RunningChild): void;
  /** Called after each start that went well. */
  onReady(child: T): void;
  /** Called when it has ended, or a start after the first has failed; not when it is stopped. */
  onDown(trouble: ChildTrouble): void;
  log(line: string): void;
}

/** Keeps one child process running: starts it again whenever it ends, until it is stopped. */
export class Keeper<T extends RunningChild> {
  private readonly stopping = new AbortController();
  private process: RunningChild | undefined;
  private delay: number = BACKOFF.first;
  private shortLives = 0;
  private loop: Promise<void> = Promise.resolve();

  constructor(private readonly options: KeeperOptions<T>) {}

  /** First start, tried up to `tries` times. Throws what the last try threw. */
  async begin(tries: number): Promise<T> {
    for (let n = 1; ; n++) {
      try {
        const child = await this.start();
        this.loop = this.keep(child);
        return child;
      } catch (err) {
        if (n === tries || this.stopping.signal.aborted) throw err;
        this.options.log(`${this.options.title} did not start: ${messageOf(err)}`);
        await this.pause();
      }
    }
  }

  /** Ends the child; it is started again at once. */
  async restart(graceMs: number): Promise<void> {
    this.delay = 0;
    await this.process?.stop(graceMs);
  }

  /** Ends the child for good, also one that is just starting. */
  async stop(graceMs: number): Promise<void> {
    this.stopping.abort();
    await this.process?.stop(graceMs);
    await this.loop;
  }

  private async start(): Promise<T> {
    this.stopping.signal.throwIfAborted();
    const child = await this.options.start((spawned) => {
      this.process = spawned;
      this.options.onSpawn(spawned);
      // stopped while this start was still looking for what to start
      if (this.stopping.signal.aborted) void spawned.stop(0);
    });
    this.options.onReady(child);
    return child;
  }

  private async keep(first: T): Promise<void> {
    let child: T | undefined = first;
    while (!this.stopping.signal.aborted) {
      const began = Date.now();
      if (child) {
        const how = await child.exited;
        if (this.stopping.signal.aborted) return;
        this.options.log(`${this.options.title} (process ${child.pid}) ended: ${how}; starting it again`);
        if (Date.now() - began > LASTING_MS) {
          this.delay = BACKOFF.first;
          this.shortLives = 0;
        }
        this.down(`The ${this.options.title} ended: ${how}.`);
      }
      await this.pause();
      child = await this.start().catch((err) => {
        if (this.stopping.signal.aborted) return undefined;
        this.options.log(`${this.options.title} did not start: ${messageOf(err)}`);
        this.down(messageOf(err));
        return undefined;
      });
    }
    await child?.exited;
  }

  private down(message: string): void {
    this.shortLives++;
    this.options.onDown({ at: Date.now(), times: this.shortLives, message });
  }

  private async pause(): Promise<void> {
    await sleep(this.delay, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    this.delay = Math.min(Math.max(this.delay * 2, BACKOFF.first), BACKOFF.most);
  }
}

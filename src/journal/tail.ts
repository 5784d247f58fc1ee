import type { Partial, StoredEvent } from '../domain/events.js';
import type { TaskId } from '../domain/ids.js';
import type { Context } from './context.js';
import { Database } from './database.js';
import { isBusy } from './errors.js';
import type { Journal } from './journal.js';
import { readPage } from './log.js';
import { onlyArriving, readPartialPage } from './partials.js';
import type { JournalSchema, PartialsSchema } from './schema.js';
import { onWrite } from './wake.js';

/** How often a tail looks for writes of other processes, in ms. */
const POLL_MS = 40;

type Item = { event: StoredEvent } | { partial: Partial };

/** Connections for reading only: `data_version` does not move for the writes of the connection that asks. */
interface Eyes {
  db: Database<JournalSchema>;
  partials: Database<PartialsSchema>;
}

export function tailStore(ctx: Context) {
  let eyes: Promise<Eyes> | undefined;
  let users = 0;

  /** All tails of a journal share one pair of connections, open for as long as there is a tail. */
  async function acquire(): Promise<Eyes> {
    users++;
    eyes ??= openEyes(ctx);
    return eyes;
  }
  async function release(): Promise<void> {
    if (--users > 0) return;
    const pair = await eyes?.catch(() => undefined);
    if (users > 0) return;
    eyes = undefined;
    await pair?.db.close();
    await pair?.partials.close();
  }

  async function* tail(task: TaskId, after: number, signal: AbortSignal): AsyncGenerator<Item> {
    const stop = AbortSignal.any([signal, ctx.closing.signal]);
    if (stop.aborted) return;
    const bell = new Bell([ctx.db.path, ctx.partials.path], stop);
    try {
      const pair = await acquire();
      const place = { seq: after, partial: 0 };
      let seen = '';
      while (!stop.aborted) {
        const rung = bell.take();
        const version = versionOf(pair);
        if (rung || version === undefined || version !== seen) {
          seen = version ?? '';
          for await (const item of newItems(pair, task, place)) {
            yield item;
            if (stop.aborted) return;
          }
        }
        await bell.wait(POLL_MS);
      }
    } finally {
      bell.remove();
      await release();
    }
  }
  return { tail } satisfies Pick<Journal, 'tail'>;
}

async function openEyes(ctx: Context): Promise<Eyes> {
  const db = await Database.open<JournalSchema>(ctx.db.path, { synchronous: 'full', readonly: true });
  try {
    const partials = await Database.open<PartialsSchema>(ctx.partials.path, { synchronous: 'off', readonly: true });
    return { db, partials };
  } catch (err) {
    await db.close();
    throw err;
  }
}

/**
 * Partials are read before events and shown after them: so everything stored before a partial was written is shown
 * before it, and what has become of its stream by now is known.
 */
async function* newItems(eyes: Eyes, task: TaskId, place: { seq: number; partial: number }): AsyncGenerator<Item> {
  for (;;) {
    const pieces = await readPartialPage(eyes.partials, task, place.partial);
    for (;;) {
      const events = await eyes.db.read((tx) => readPage(tx, task, place.seq));
      if (events.length === 0) break;
      for (const event of events) {
        place.seq = event.seq;
        yield { event };
      }
    }
    if (pieces.length === 0) return;
    for (const { partial } of await onlyArriving(eyes.db, pieces)) yield { partial };
    place.partial = pieces.at(-1)?.id ?? place.partial;
  }
}

/** Undefined when it cannot be told just now. */
function versionOf(eyes: Eyes): string | undefined {
  try {
    return `${eyes.db.dataVersion()}/${eyes.partials.dataVersion()}`;
  } catch (err) {
    if (isBusy(err)) return undefined;
    throw err;
  }
}

/** Rings when this process has written to one of the files, also when nobody waits at that moment. */
class Bell {
  #rung = true;
  #wake: (() => void) | undefined;
  readonly #removers: (() => void)[];

  constructor(
    paths: string[],
    private readonly stop: AbortSignal,
  ) {
    this.#removers = paths.map((path) => onWrite(path, this.#ring));
    stop.addEventListener('abort', this.#ring);
  }

  /** Whether it has rung since the last call. */
  take(): boolean {
    const rung = this.#rung;
    this.#rung = false;
    return rung;
  }

  /** Until it rings, or for `ms`. */
  async wait(ms: number): Promise<void> {
    if (this.#rung) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }

  remove(): void {
    for (const remove of this.#removers) remove();
    this.stop.removeEventListener('abort', this.#ring);
  }

  readonly #ring = () => {
    this.#rung = true;
    this.#wake?.();
  };
}

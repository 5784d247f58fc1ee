import { basename } from 'node:path';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { Kysely, SqliteDialect } from 'kysely';
import Libsql from 'libsql';
import { closed, explain, isBusy, locked } from './errors.js';
import { faultPoints } from './fault-points.js';

/** How long a call waits for a lock of another process before it fails, in ms. */
export const LOCK_TIMEOUT_MS = 30_000;

/** Longest wait between two tries for a lock, in ms. */
const LONGEST_WAIT_MS = 50;

/** Statements kept prepared; lists of keys of different lengths make new ones without end. */
const MAX_STATEMENTS = 200;

/** After this long without a turn of the event loop, queued writes let others run, in ms. */
const BREATH_MS = 8;

export interface DatabaseOptions {
  /** What a power cut may take: nothing (`full`), or the last transactions and even the file (`off`). */
  synchronous: 'full' | 'off';
  /** Refuses writes of this connection. */
  readonly?: boolean;
  /** Off only while a new file is made that nobody else has open yet. */
  wal?: boolean;
  /** Throws for a schema version that this program must not touch; called before anything is changed. */
  accept?: (version: number) => void;
  /** Default {@link LOCK_TIMEOUT_MS}. */
  lockTimeoutMs?: number;
}

/**
 * One connection to one SQLite file. The driver is synchronous, so no call waits inside it: a lock that another
 * process holds is waited for outside, with the event loop free.
 */
export class Database<Schema> {
  readonly #raw: Libsql.Database;
  readonly #kysely: Kysely<Schema>;
  readonly #lockTimeoutMs: number;
  readonly #statements = new Map<string, Libsql.Statement>();
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #breath = performance.now();

  private constructor(
    readonly path: string,
    options: DatabaseOptions,
  ) {
    this.#lockTimeoutMs = options.lockTimeoutMs ?? LOCK_TIMEOUT_MS;
    this.#raw = explained(path, () => new Libsql(path));
    const prepare = (text: string) => this.#prepare(text);
    this.#kysely = new Kysely<Schema>({
      dialect: new SqliteDialect({ database: { prepare, close: () => this.#raw.close() } }),
    });
  }

  /**
   * Opens the file, which has to exist, and sets the connection up.
   * @throws LonghaulError `journal-corrupt`, `journal-locked`, `journal-unwritable`
   */
  static async open<Schema>(path: string, options: DatabaseOptions): Promise<Database<Schema>> {
    const db = new Database<Schema>(path, options);
    try {
      await db.#patiently(() => db.#pragma('busy_timeout = 0'));
      // Fails for a file that is no database, before anything is written to it.
      const version = await db.#patiently(() => db.version());
      options.accept?.(version);
      if (options.wal !== false) await db.#patiently(() => db.#exec('PRAGMA journal_mode = WAL'));
      db.#pragma(`synchronous = ${options.synchronous}`);
      if (options.readonly) db.#pragma('query_only = 1');
    } catch (err) {
      db.#raw.close();
      throw err;
    }
    return db;
  }

  /** The schema version stored in the file; 0 in a file without a schema. */
  version(): number {
    return Number(this.#pragma('user_version'));
  }

  /** Changes whenever another connection has committed; not by this connection's own writes. */
  dataVersion(): number {
    return Number(this.#pragma('data_version'));
  }

  /** Runs `body` on one consistent state of the database. */
  async read<T>(body: (tx: Kysely<Schema>) => Promise<T>): Promise<T> {
    const deadline = Date.now() + this.#lockTimeoutMs;
    for (let tries = 0; ; tries++) {
      try {
        return await this.#transaction('begin', body);
      } catch (err) {
        if (!isBusy(err)) throw err;
        await this.#pause(tries, deadline);
      }
    }
  }

  /**
   * Runs `body` in an immediate transaction: all of it or nothing. `body` runs at most once and awaits nothing but
   * queries, so that the lock is held for as long as they take. Writes of one process wait for each other in order.
   * @throws LonghaulError `journal-locked`
   */
  write<T>(body: (tx: Kysely<Schema>) => Promise<T>): Promise<T> {
    return faultPoints(`write to ${basename(this.path)}`, () => this.#writeInOrder(body));
  }

  /** Lets what is being read or written end; what comes later fails with an `AbortError`. */
  async close(): Promise<void> {
    if (!this.#raw.open) return;
    await this.#last.catch(() => undefined);
    await this.#kysely.connection().execute(async () => undefined);
    await this.#kysely.destroy();
    if (this.#raw.open) this.#raw.close();
  }

  async #writeInOrder<T>(body: (tx: Kysely<Schema>) => Promise<T>): Promise<T> {
    const deadline = Date.now() + this.#lockTimeoutMs;
    const before = this.#last;
    const mine = (async () => {
      if (this.#waiting++ > 0) {
        await before.catch(() => undefined);
        await this.#breathe();
      }
      return this.#writeNow(body, deadline);
    })();
    this.#last = mine;
    try {
      return await mine;
    } finally {
      this.#waiting--;
    }
  }

  async #writeNow<T>(body: (tx: Kysely<Schema>) => Promise<T>, deadline: number): Promise<T> {
    for (let tries = 0; ; tries++) {
      let began = false;
      try {
        return await this.#transaction('begin immediate', (tx) => {
          began = true;
          return body(tx);
        });
      } catch (err) {
        if (began || !isBusy(err)) throw err;
        await this.#pause(tries, deadline);
      }
    }
  }

  async #transaction<T>(begin: string, body: (tx: Kysely<Schema>) => Promise<T>): Promise<T> {
    if (!this.#raw.open) throw closed(this.path);
    return this.#kysely.connection().execute(async (tx) => {
      this.#exec(begin);
      try {
        const value = await body(tx);
        this.#exec('commit');
        return value;
      } catch (err) {
        // The database may have rolled back already; then there is nothing to end.
        if (this.#raw.open && this.#raw.inTransaction) this.#exec('rollback');
        throw err;
      }
    });
  }

  async #patiently<T>(act: () => T): Promise<T> {
    const deadline = Date.now() + this.#lockTimeoutMs;
    for (let tries = 0; ; tries++) {
      try {
        return act();
      } catch (err) {
        if (!isBusy(err)) throw err;
        await this.#pause(tries, deadline);
      }
    }
  }

  async #pause(tries: number, deadline: number): Promise<void> {
    if (Date.now() >= deadline) throw locked(this.path, this.#lockTimeoutMs);
    const wait = Math.min(LONGEST_WAIT_MS, 2 ** tries);
    await sleep(wait * (0.5 + Math.random()));
  }

  async #breathe(): Promise<void> {
    if (performance.now() - this.#breath < BREATH_MS) return;
    await immediate();
    this.#breath = performance.now();
  }

  /** Prepared once, as long as it does not fail: one that has met a lock is left unfinished by the driver. */
  #prepare(text: string) {
    const statement = this.#statements.get(text) ?? whileOpen(this.path, this.#raw, () => this.#raw.prepare(text));
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    this.#statements.set(text, statement);
    const guarded =
      <T>(act: (values: unknown[]) => T) =>
      (values: readonly unknown[]) => {
        try {
          return whileOpen(this.path, this.#raw, () => act(bindable(values)));
        } catch (err) {
          this.#statements.delete(text);
          throw err;
        }
      };
    return {
      reader: statement.reader,
      all: guarded((values) => statement.all(values)),
      run: guarded((values) => statement.run(values)),
      iterate: guarded((values) => statement.iterate(values)),
    };
  }

  /** Not as a prepared statement: the driver leaves one that met a lock unfinished, and then no commit succeeds. */
  #exec(text: string): void {
    whileOpen(this.path, this.#raw, () => this.#raw.exec(text));
  }

  #pragma(text: string): unknown {
    return whileOpen(this.path, this.#raw, () => {
      const [row] = this.#raw.prepare(`PRAGMA ${text}`).all() as Record<string, unknown>[];
      return row === undefined ? undefined : Object.values(row)[0];
    });
  }
}

/** The driver ends the whole process when a closed database is used. */
function whileOpen<T>(path: string, raw: Libsql.Database, act: () => T): T {
  if (!raw.open) throw closed(path);
  return explained(path, act);
}

function explained<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (err) {
    throw explain(err, path);
  }
}

/**
 * Lets through only what the driver can store unchanged. It ends the whole process when a boolean, a buffer, a date or
 * an object is bound, and cuts text at U+0000 or replaces half surrogate pairs: such text has to be stored as JSON.
 */
export function bindable(values: readonly unknown[]): unknown[] {
  return values.map((value, i) => {
    if (value === null || (typeof value === 'number' && Number.isFinite(value))) return value;
    if (typeof value === 'string' && !value.includes('\0') && !/\p{Surrogate}/u.test(value)) return value;
    const what = typeof value === 'string' ? 'text with U+0000 or half a surrogate pair' : describe(value);
    throw new TypeError(`Value ${i + 1} cannot be stored: ${what}`);
  });
}

function describe(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'object' ? (value?.constructor?.name ?? 'object') : typeof value;
}

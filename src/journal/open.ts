import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LonghaulError } from '../domain/errors.js';
import { migrationGuard } from '../service/migration.js';
import { type HomePaths, homePaths } from '../settings/paths.js';
import { blobStore } from './blobs.js';
import { callStore } from './calls.js';
import type { Context } from './context.js';
import { conversationStore } from './conversations.js';
import type { Database } from './database.js';
import { corrupt, lost, lostJournal, unwritable } from './errors.js';
import { type FileOptions, makeFolder, openFile, removeLeftovers, setAside } from './files.js';
import type { Journal } from './journal.js';
import { leaseStore } from './leases.js';
import { logStore } from './log.js';
import { JOURNAL_MIGRATIONS, PARTIALS_MIGRATIONS } from './migrations/index.js';
import { partialStore } from './partials.js';
import { runStore } from './runs.js';
import type { JournalSchema, PartialsSchema } from './schema.js';
import { seenStore } from './seen.js';
import { tailStore } from './tail.js';
import { taskStore } from './tasks.js';
import { turnStore } from './turns.js';
import { usageStore } from './usage.js';

export interface OpenOptions {
  /** `$LONGHAUL_HOME`; made when it is missing. */
  home: string;
  /** Refuses writes, and makes no journal where there is none (`journal-lost`). */
  readonly?: boolean;
  /** How long a call waits for a lock of another process, in ms; default 30 s. */
  lockTimeoutMs?: number;
}

/**
 * Opens the journal of a home, makes it on first use, and brings its schema up to date.
 * @throws LonghaulError `journal-locked`, `journal-corrupt`, `journal-newer`, `journal-lost`, `journal-unwritable`,
 * `service-version` when a service runs that does not know this schema
 * @example
 * const journal = await openJournal({ home: longhaulHome() });
 * console.log(await journal.listTasks());
 * await journal.close();
 */
export async function openJournal(options: OpenOptions): Promise<Journal> {
  const paths = homePaths(options.home);
  const common = options.lockTimeoutMs === undefined ? {} : { lockTimeoutMs: options.lockTimeoutMs };
  const readonly = options.readonly ?? false;
  const mayMigrate = migrationGuard(paths);
  if (!readonly) await checkNew(paths);
  if (!readonly) await makeFolders(paths.journal, [paths.home, paths.blobs, join(paths.blobs, 'tmp')]);
  const db = await openFile<JournalSchema>(paths.journal, {
    ...common,
    migrations: JOURNAL_MIGRATIONS,
    synchronous: 'full',
    create: !readonly,
    readonly,
    mayMigrate,
  });
  try {
    const id = await readIdentity(db);
    const inode = await inodeOf(paths.journal);
    const partials = await openPartials(paths.partials, { ...common, readonly, mayMigrate });
    return compose(inode, { id, db, partials, blobs: paths.blobs, closing: new AbortController() });
  } catch (err) {
    await db.close();
    throw err;
  }
}

function compose(inode: string | undefined, ctx: Context): Journal {
  return {
    id: ctx.id,
    async close() {
      ctx.closing.abort();
      await ctx.db.close();
      await ctx.partials.close();
    },
    async check() {
      const { path } = ctx.db;
      const now = await inodeOf(path);
      if (now === undefined) throw lost(`anything: the file ${path} is gone`);
      if (now !== inode) throw lost(`what it held: the file ${path} is another one than it was`);
      const { id, generation } = await readIdentity(ctx.db);
      if (id === ctx.id.id && generation === ctx.id.generation) return;
      throw lost(`what it held: the content of ${path} was replaced`);
    },
    ...taskStore(ctx),
    ...logStore(ctx),
    ...runStore(ctx),
    ...partialStore(ctx),
    ...tailStore(ctx),
    ...blobStore(ctx),
    ...conversationStore(ctx),
    ...turnStore(ctx),
    ...usageStore(ctx),
    ...callStore(ctx),
    ...leaseStore(ctx),
    ...seenStore(ctx),
  };
}

/** Beside a Temporal database a missing journal is a lost one: the tasks there could not go on with an empty one. */
async function checkNew({ journal, temporalDb }: HomePaths): Promise<void> {
  // in this order: a first start makes the journal before the database
  const tasks = await inodeOf(temporalDb);
  if (tasks === undefined || (await inodeOf(journal)) !== undefined) return;
  if ((await inodeOf(`${journal}-wal`)) === undefined) throw lostJournal(journal, temporalDb);
}

/** Names a file whatever its path; undefined when there is none. */
async function inodeOf(path: string): Promise<string | undefined> {
  const info = await stat(path, { bigint: true }).catch((err: NodeJS.ErrnoException) => {
    if (err.code === 'ENOENT' || err.code === 'ENOTDIR') return undefined;
    throw unwritable(path, err);
  });
  return info && `${info.dev}:${info.ino}`;
}

async function makeFolders(journal: string, folders: string[]): Promise<void> {
  try {
    for (const folder of folders) await makeFolder(folder);
  } catch (err) {
    throw unwritable(journal, err);
  }
  await removeLeftovers(folders.at(-1) ?? '', () => true);
}

async function readIdentity(db: Database<JournalSchema>): Promise<Context['id']> {
  const rows = await db
    .read((tx) => tx.selectFrom('journal').selectAll().execute())
    .catch((err) => {
      throw LonghaulError.is(err) ? err : corrupt(db.path, 'its tables are not those of a journal', err);
    });
  const [row] = rows;
  // A file cut short can read as empty pages instead of failing.
  if (!row?.id || !row.generation) throw corrupt(db.path, 'it has lost its identity');
  return { id: row.id, generation: row.generation };
}

/** Partials have no lasting value and are not synced, so a file that a power cut has damaged is replaced. */
async function openPartials(
  path: string,
  options: Pick<FileOptions, 'lockTimeoutMs' | 'readonly' | 'mayMigrate'>,
): Promise<Database<PartialsSchema>> {
  const open = () =>
    openFile<PartialsSchema>(path, {
      ...options,
      migrations: PARTIALS_MIGRATIONS,
      synchronous: 'off',
      create: true,
    });
  try {
    return await open();
  } catch (err) {
    if (options.readonly || !LonghaulError.is(err) || err.slug !== 'journal-corrupt') throw err;
    await setAside(path);
    return open();
  }
}

import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Kysely } from 'kysely';
import { sql } from 'kysely';
import { LonghaulError } from '../domain/errors.js';
import { Database, type DatabaseOptions } from './database.js';
import { corrupt, lost, newer, unwritable } from './errors.js';
import type { Migration } from './migrations/migration.js';

/** Temporary files older than this belong to processes that are gone, in ms. */
const LEFTOVER_MS = 3_600_000;

export interface FileOptions extends DatabaseOptions {
  migrations: readonly Migration[];
  /** Makes the file when it is missing; without it that is `journal-lost`. */
  create: boolean;
  /** Asked before the schema of an existing file is changed: false means to look again whether it is to be. */
  mayMigrate?: (known: number, found: number) => Promise<boolean>;
}

/**
 * Opens a database file and brings its schema up to date. A file is made under another name and linked into place
 * when complete, so that an empty or half-made file is never taken for a new one.
 * @throws LonghaulError `journal-corrupt`, `journal-newer`, `journal-locked`, `journal-lost`, `journal-unwritable`
 */
export async function openFile<Schema>(path: string, options: FileOptions): Promise<Database<Schema>> {
  const found = await look(path);
  if (found === 'missing') {
    if (!options.create) throw lost(`anything: there is no file ${path}`);
    await createFile(path, options).catch((err) => {
      throw LonghaulError.is(err) ? err : unwritable(path, err);
    });
  }
  const accept = (version: number) => check(path, version, options.migrations.length);
  const db = await Database.open<Schema>(path, { ...options, readonly: false, accept });
  try {
    await migrate(db, options.migrations, options.mayMigrate);
    if (!options.readonly) return db;
  } catch (err) {
    await db.close();
    throw err;
  }
  await db.close();
  return Database.open<Schema>(path, options);
}

/** Moves a damaged file of no lasting value out of the way, with what belongs to it. */
export async function setAside(path: string): Promise<void> {
  const suffix = `.damaged-${Date.now()}`;
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    await rename(file, `${file}${suffix}`).catch(ignoreMissing);
  }
}

/** Writes a file so that it is either absent or whole, also after a power cut. An existing one is replaced. */
export async function writeWhole(path: string, tempFolder: string, bytes: Uint8Array): Promise<void> {
  const temp = join(tempFolder, randomUUID());
  const file = await open(temp, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temp, path);
  await syncFolder(dirname(path));
}

/** Makes a folder that only its owner may enter, and those above it. */
export async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first !== undefined) await syncFolder(dirname(first));
}

/** Removes what processes that were killed have left in a folder for temporary files. */
export async function removeLeftovers(folder: string, belongs: (name: string) => boolean): Promise<void> {
  const names = await readdir(folder).catch(() => [] as string[]);
  for (const name of names.filter(belongs)) {
    const file = join(folder, name);
    const info = await stat(file).catch(() => undefined);
    if (info && Date.now() - info.mtimeMs > LEFTOVER_MS) await rm(file, { force: true });
  }
}

/** Only looks at names and sizes: opening and closing the file would drop this process's own locks on it. */
async function look(path: string): Promise<'there' | 'missing'> {
  const info = await stat(path).catch(ignoreMissing);
  if (info === undefined) {
    const wal = await stat(`${path}-wal`).catch(ignoreMissing);
    if (wal !== undefined && wal.size > 0) throw corrupt(path, `it is gone, but ${path}-wal is still there`);
    return 'missing';
  }
  if (!info.isFile()) throw corrupt(path, 'it is not a file');
  if (info.size === 0) throw corrupt(path, 'it is empty');
  return 'there';
}

async function createFile(path: string, options: FileOptions): Promise<void> {
  const temp = `${path}.new-${randomUUID()}`;
  try {
    await (await open(temp, 'wx', 0o600)).close();
    const db = await Database.open<unknown>(temp, { synchronous: 'full', readonly: false, wal: false });
    try {
      await migrate(db, options.migrations);
    } finally {
      await db.close();
    }
    await link(temp, path).catch((err: NodeJS.ErrnoException) => {
      if (err.code !== 'EEXIST') throw err;
    });
    await syncFolder(dirname(path));
  } finally {
    await rm(temp, { force: true });
  }
  await removeLeftovers(dirname(path), (name) => name.startsWith(`${basename(path)}.new-`));
}

function check(path: string, version: number, known: number): void {
  if (version > known) throw newer(path, version, known);
  if (version === 0) throw corrupt(path, 'it is a database, but not one of Longhaul');
}

async function migrate<Schema>(
  db: Database<Schema>,
  migrations: readonly Migration[],
  may: FileOptions['mayMigrate'] = async () => true,
): Promise<void> {
  while (db.version() < migrations.length) {
    if (!(await may(migrations.length, db.version()))) continue;
    await db.write(async (tx) => {
      for (const step of migrations.slice(db.version())) await step(tx as Kysely<unknown>);
      await sql.raw(`PRAGMA user_version = ${migrations.length}`).execute(tx);
    });
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function ignoreMissing(err: NodeJS.ErrnoException): undefined {
  if (err.code === 'ENOENT') return undefined;
  throw err;
}

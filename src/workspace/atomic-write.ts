import { closeSync, constants, fsyncSync, lstatSync, openSync, readFileSync, realpathSync, renameSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath, stat, unlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { RunContext } from '../tools/tool.js';
import { ToolError } from '../tools/tool.js';
import { fileProblem, sha256 } from './files.js';

/** A whole file to be put in place of another, or where there is none. */
export interface CheckedWrite {
  /** Real path: its last part is no link. */
  path: string;
  display: string;
  bytes: Buffer;
  /** SHA-256 of the content that `bytes` were made from; null when the file must not exist. */
  base: string | null;
}

export type WriteEnd =
  /** The file holds the new content, durably. */
  | 'written'
  /** Somebody changed the file, or moved its directory, since `base`; nothing was written. */
  | 'changed'
  /** An earlier execution's file is gone and the target is as before: nothing is in place, and nothing is repeated. */
  | 'lost';

/** What an execution that is about to rename leaves for the next one. */
interface Intent {
  path: string;
  temp: string;
  base: string | null;
  next: string;
  /** The check before the rename failed: the new content never came into place. */
  refused?: true;
}

type WriteContext = Pick<RunContext, 'call' | 'execution' | 'journal'>;

/**
 * Ends what an earlier execution of the call had begun. Its temporary file present means that it has not renamed, absent
 * that it has: so a write is never lost, and never done twice.
 *
 * @returns undefined when no earlier execution got as far as its intent
 * @throws Superseded when a newer execution exists
 */
export async function resumeWrite(ctx: WriteContext): Promise<WriteEnd | undefined> {
  const stored = await ctx.journal.getIntent(ctx.call);
  if (stored === undefined) return undefined;
  const intent = JSON.parse(stored) as Intent;
  if (intent.refused) return 'changed';
  if (await exists(intent.temp)) return moveIntoPlace(ctx, intent);
  const current = hashOf(intent.path);
  return current === intent.base && current !== intent.next ? 'lost' : 'written';
}

/**
 * Writes a file so that it is either the old or the new one at every moment, and only if it still is what `base` says.
 * Missing directories are made. Mode and owner of a replaced file are kept.
 *
 * @throws ToolError when the file system refuses; nothing has changed then
 * @throws Superseded when a newer execution exists
 */
export async function writeChecked(ctx: WriteContext, write: CheckedWrite): Promise<WriteEnd> {
  const directory = dirname(write.path);
  const intent: Intent = {
    path: write.path,
    temp: join(directory, tempName(ctx.call, ctx.execution)),
    base: write.base,
    next: sha256(write.bytes),
  };
  try {
    if (!(await makeDirectory(directory))) return 'changed';
    // Without an intent, earlier executions have left at most a file that nobody will rename.
    for (let old = 1; old < ctx.execution; old++) await remove(join(directory, tempName(ctx.call, old)));
    await writeTemp(intent.temp, write);
    syncDirectory(directory);
  } catch (err) {
    await remove(intent.temp);
    throw fileProblem(err, write.display, 'written');
  }
  try {
    await ctx.journal.putIntent(ctx.call, ctx.execution, JSON.stringify(intent));
  } catch (err) {
    await remove(intent.temp);
    throw err;
  }
  return moveIntoPlace(ctx, intent);
}

/** Hidden, in the target's directory, one for each execution: a late one cannot take away what its successor has written. */
function tempName(call: string, execution: number): string {
  return `.longhaul-${sha256(call).slice(0, 32)}-${execution}.tmp`;
}

/** Ripgrep's glob for the names of unfinished writes. */
export const TEMP_GLOB = `.longhaul-${'[0-9a-f]'.repeat(32)}-*.tmp`;

/**
 * Removes the file that a write has left behind whose call will not be executed again: for the end of a task. Only a
 * regular file of the right name beside its target is removed, and none that a link has come in front of.
 *
 * @param intentJson what the journal's `getIntent` gave
 * @returns whether a file was removed; false also when the intent is of another form, or the file system refuses
 */
export async function removeLeftTemp(intentJson: string): Promise<boolean> {
  try {
    const intent = JSON.parse(intentJson) as { path?: unknown; temp?: unknown } | null;
    const { path, temp } = intent ?? {};
    if (typeof path !== 'string' || typeof temp !== 'string' || !isAbsolute(path)) return false;
    const directory = dirname(path);
    if (!isTempName(basename(temp)) || temp !== join(directory, basename(temp))) return false;
    if ((await realpath(directory)) !== directory || !(await lstat(temp)).isFile()) return false;
    await unlink(temp);
    return true;
  } catch {
    return false;
  }
}

/** Whether a name is that of an unfinished write. */
export function isTempName(name: string): boolean {
  return /^\.longhaul-[0-9a-f]{32}-\d+\.tmp$/.test(name);
}

async function moveIntoPlace(ctx: WriteContext, intent: Intent): Promise<WriteEnd> {
  const end = await ctx.journal.whileClaimed(ctx.call, ctx.execution, () => swap(intent));
  if (end === 'written') return end;
  await ctx.journal.putIntent(ctx.call, ctx.execution, JSON.stringify({ ...intent, refused: true }));
  await remove(intent.temp);
  if (end === 'changed') return end;
  throw fileProblem(end.error, intent.path, 'written');
}

/** Runs inside the journal's transaction, so that no other execution is between the check and the rename. */
function swap(intent: Intent): 'written' | 'changed' | { error: unknown } {
  const directory = dirname(intent.path);
  try {
    if (realpathSync(directory) !== directory || hashOf(intent.path) !== intent.base) return 'changed';
    renameSync(intent.temp, intent.path);
  } catch (error) {
    return { error };
  }
  syncDirectory(directory);
  return 'written';
}

/** SHA-256 of a regular file; null when there is none; undefined when something else has its name. */
function hashOf(path: string): string | null | undefined {
  try {
    return lstatSync(path).isFile() ? sha256(readFileSync(path)) : undefined;
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw err;
  }
}

/** @returns false when a link has come into the path since it was resolved */
async function makeDirectory(directory: string): Promise<boolean> {
  const first = await mkdir(directory, { recursive: true });
  if ((await realpath(directory)) !== directory) return false;
  if (first !== undefined) {
    for (let made = directory; made !== dirname(first); made = dirname(made)) syncDirectory(dirname(made));
  }
  return true;
}

async function writeTemp(temp: string, write: CheckedWrite): Promise<void> {
  const old = write.base === null ? undefined : await stat(write.path);
  if (old && (old.mode & 0o222) === 0) {
    throw new ToolError(
      `"${write.display}" is read-only (no write permission for anybody). Nothing was changed.`,
      false,
    );
  }
  await remove(temp);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const handle = await open(temp, flags, old ? old.mode & 0o777 : 0o666);
  try {
    await handle.writeFile(write.bytes);
    if (old) await keepOwner(handle, old);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function keepOwner(handle: FileHandle, old: { uid: number; gid: number; mode: number }): Promise<void> {
  const made = await handle.stat();
  if (made.uid !== old.uid || made.gid !== old.gid) {
    // Only root may give files away; a file of the writer's own is what every editor leaves then.
    await handle.chown(old.uid, old.gid).catch(() => undefined);
  }
  await handle.chmod(old.mode & 0o7777);
}

function syncDirectory(directory: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(directory, constants.O_RDONLY);
    fsyncSync(descriptor);
  } catch (err) {
    // Windows and some network file systems cannot sync a directory.
    if (!['EINVAL', 'EPERM', 'EISDIR', 'ENOTSUP', 'EACCES'].includes((err as NodeJS.ErrnoException).code ?? ''))
      throw err;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function remove(path: string): Promise<void> {
  await unlink(path).catch((err: NodeJS.ErrnoException) => {
    if (err.code !== 'ENOENT' && err.code !== 'ENOTDIR') throw err;
  });
}

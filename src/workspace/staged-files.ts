import { constants, lstatSync, readFileSync, unlinkSync } from 'node:fs';
import { type FileHandle, open, stat, unlink } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { ToolError } from '../tools/tool.js';
import { MAX_FILE_BYTES, sha256 } from './files.js';
import { type HeldFolder, holdFolder } from './held-folder.js';

/** A whole file to be put in place of another or where there is none, or a file to be removed. */
export interface FileChange {
  /** Real path: its last part is no link. */
  path: string;
  display: string;
  /** The new content; null removes the file. */
  bytes: Buffer | null;
  /** SHA-256 of the content that `bytes` were made from; null when the file must not exist. */
  base: string | null;
  /** Real path of the file whose mode and owner a new one gets: where it comes from when it is moved. */
  like?: string;
}

/** The name of a hidden file of an unfinished change: one for each execution, so that a late one cannot take away what its successor has written. */
export function tempName(call: string, execution: number, step: number, kind: '' | '.old' = ''): string {
  return `.longhaul-${sha256(call).slice(0, 32)}-${execution}.${step}${kind}.tmp`;
}

/** Whether a name is that of a file of an unfinished change. */
export function isTempName(name: string): boolean {
  return /^\.longhaul-[0-9a-f]{32}-\d+\.\d+(\.old)?\.tmp$/i.test(name);
}

/** Ripgrep's glob for these names. */
export const TEMP_GLOB = `.longhaul-${'[0-9a-f]'.repeat(32)}-*.tmp`;

/**
 * Writes the content of a change to a hidden file, durably, with the mode and owner that the file will have.
 *
 * @throws ToolError for a file that nobody may write
 */
export async function stage(temp: string, change: FileChange): Promise<void> {
  await checkWritable(change);
  if (change.bytes === null) return;
  const folder = holdFolder(dirname(temp));
  try {
    const path = folder.at(basename(temp));
    await removeFile(path);
    const model = change.base === null ? change.like : change.path;
    const old = model === undefined ? undefined : await stat(model);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const handle = await open(path, flags, old ? old.mode & 0o777 : 0o666);
    try {
      await handle.writeFile(change.bytes);
      if (old) await keepOwner(handle, old);
      await handle.sync();
    } finally {
      await handle.close();
    }
    folder.sync();
  } finally {
    folder.close();
  }
}

async function checkWritable({ path, display, base }: FileChange): Promise<void> {
  if (base === null || ((await stat(path)).mode & 0o222) !== 0) return;
  throw new ToolError(`"${display}" is read-only (no write permission for anybody). Nothing was changed.`, false);
}

async function keepOwner(handle: FileHandle, old: { uid: number; gid: number; mode: number }): Promise<void> {
  const made = await handle.stat();
  if (made.uid !== old.uid || made.gid !== old.gid) {
    // Only root may give files away; a file of the writer's own is what every editor leaves then.
    await handle.chown(old.uid, old.gid).catch(() => undefined);
  }
  await handle.chmod(old.mode & 0o7777);
}

/** SHA-256 of a regular file; null when there is none; undefined when something else has its name, or it is too large. */
export function hashAt(path: string): string | null | undefined {
  try {
    const stats = lstatSync(path);
    return stats.isFile() && stats.size <= MAX_FILE_BYTES ? sha256(readFileSync(path)) : undefined;
  } catch (err) {
    if (isMissing(err)) return null;
    throw err;
  }
}

export function existsAt(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Removes a hidden file, and only from where its real path leads. */
export function discard(path: string): boolean {
  if (!isAbsolute(path) || path !== join(dirname(path), basename(path)) || !isTempName(basename(path))) return false;
  let folder: HeldFolder | undefined;
  try {
    folder = holdFolder(dirname(path));
    if (!lstatSync(folder.at(basename(path))).isFile()) return false;
    unlinkSync(folder.at(basename(path)));
    return true;
  } catch {
    return false;
  } finally {
    folder?.close();
  }
}

async function removeFile(path: string): Promise<void> {
  await unlink(path).catch((err: NodeJS.ErrnoException) => {
    if (!isMissing(err)) throw err;
  });
}

export function isMissing(err: unknown): boolean {
  const { code } = err as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

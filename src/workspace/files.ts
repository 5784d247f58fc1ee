import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { messageOf } from '../domain/errors.js';
import { ToolError } from '../tools/tool.js';
import { checkPlace, PathMoved } from './held-folder.js';

/** Largest file that tools read or edit, in bytes (the original's limit for read_file). */
export const MAX_FILE_BYTES = 20_480_000;

const CHUNK_BYTES = 1 << 20;

export interface FileContent {
  bytes: Buffer;
  /** SHA-256 of `bytes`, hex. */
  sha256: string;
}

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * Reads a regular file whole. A link put in its place, or a pipe, is refused instead of followed or waited for.
 *
 * @param file `real` as the resolver made it
 * @throws ToolError when it is missing, unreadable, not a regular file or larger than {@link MAX_FILE_BYTES}
 */
export async function readWholeFile(file: { real: string; display: string }): Promise<FileContent> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file.real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    checkPlace(handle.fd, file.real);
    checkReadable(await handle.stat(), file.display);
    const bytes = await readBounded(handle, file.display);
    return { bytes, sha256: sha256(bytes) };
  } catch (err) {
    throw fileProblem(err, file.display, 'read');
  } finally {
    await handle?.close();
  }
}

function checkReadable(stats: Stats, display: string): void {
  if (stats.isDirectory()) throw new ToolError(`"${display}" is a directory. Use list_files to see what it holds.`);
  if (!stats.isFile()) throw new ToolError(`"${display}" is not a regular file.`);
  if (stats.size > MAX_FILE_BYTES) throw tooLarge(display);
}

// Files in /proc report size 0, and a log may grow while it is read: the size alone is no bound.
async function readBounded(handle: FileHandle, display: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let total = 0; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, null);
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, bytesRead));
    total += bytesRead;
    if (total > MAX_FILE_BYTES) throw tooLarge(display);
  }
}

function tooLarge(display: string): ToolError {
  return new ToolError(
    `"${display}" is larger than ${MAX_FILE_BYTES.toLocaleString('en-US')} bytes, the most a file tool handles.` +
      ' Use search_files, or a command that shows a part of it.',
  );
}

/** Turns a file system error into one the model can act on. Lack of rights or space is not the model's mistake. */
export function fileProblem(err: unknown, display: string, done: string): ToolError {
  if (err instanceof ToolError) return err;
  if (err instanceof PathMoved) {
    return new ToolError(`"${display}" leads elsewhere than when it was looked up; nothing was ${done}.`, false);
  }
  const code = (err as NodeJS.ErrnoException).code;
  switch (code) {
    case 'ENOENT':
      return new ToolError(`"${display}" does not exist. Use list_files to see what is there.`);
    case 'ENOTDIR':
      return new ToolError(`"${display}" goes through something that is not a directory.`);
    case 'EISDIR':
      return new ToolError(`"${display}" is a directory.`);
    case 'ELOOP':
    case 'EMLINK':
      return new ToolError(`"${display}" became a symbolic link while it was ${done}; nothing was done.`);
    case 'ENAMETOOLONG':
      return new ToolError(`"${display}" is longer than the file system allows.`);
    case 'EACCES':
    case 'EPERM':
      return new ToolError(`"${display}" could not be ${done}: no permission (${code}).`, false);
    case 'EROFS':
      return new ToolError(`"${display}" could not be ${done}: the file system is read-only.`, false);
    case 'ENOSPC':
    case 'EDQUOT':
      return new ToolError(`"${display}" could not be ${done}: no space left on the disk (${code}).`, false);
    default:
      return new ToolError(`"${display}" could not be ${done}: ${messageOf(err)}`, false);
  }
}

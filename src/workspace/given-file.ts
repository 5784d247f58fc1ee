import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { messageOf } from '../domain/errors.js';

/**
 * The content of a regular file of at most `most` bytes, as people name it for a task. A pipe or device is not waited for.
 * @returns why it cannot be read, as the end of a sentence; `missing` when there is nothing
 */
export async function readGivenFile(
  path: string,
  most: number,
): Promise<{ bytes: Buffer } | { problem: string; missing?: true }> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await handle.stat();
    if (stats.isDirectory()) return { problem: 'is a folder' };
    if (!stats.isFile()) return { problem: 'is no regular file' };
    // a file may grow, and those in /proc say 0
    const buffer = Buffer.alloc(most + 1);
    let length = 0;
    while (length <= most) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null);
      if (bytesRead === 0) return { bytes: buffer.subarray(0, length) };
      length += bytesRead;
    }
    return { problem: `is larger than ${most.toLocaleString('en-US')} bytes` };
  } catch (err) {
    const { code } = err as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { problem: 'does not exist', missing: true };
    return { problem: `cannot be read (${code ?? messageOf(err)})` };
  } finally {
    await handle?.close();
  }
}

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BlobRef, INLINE_TEXT_BYTES, isBlobRef } from '../domain/blocks.js';
import type { Context } from './context.js';
import { lost, unwritable } from './errors.js';
import { makeFolder, writeWhole } from './files.js';
import type { Journal } from './journal.js';

/** Blobs up to this many bytes are rows; larger ones are files. */
const ROW_BYTES = 65_536;

/** Hashing goes in pieces of this size, so that the event loop stays free. */
const HASH_BYTES = 1_048_576;

export function blobStore(ctx: Context) {
  const fileOf = (id: string) => join(ctx.blobs, id.slice(0, 2), id);

  async function putBlob(content: string | Uint8Array): Promise<BlobRef> {
    const bytes = Buffer.from(content);
    const id = await sha256(bytes);
    if (bytes.length <= ROW_BYTES) {
      const row = { id, bytes: bytes.length, base64: bytes.toString('base64') };
      await ctx.db.write((tx) =>
        tx
          .insertInto('blob')
          .values(row)
          .onConflict((on) => on.column('id').doNothing())
          .execute(),
      );
    } else if (!(await readWhole(fileOf(id), id))) {
      const folder = join(ctx.blobs, id.slice(0, 2));
      await makeFolder(folder)
        .then(() => writeWhole(fileOf(id), join(ctx.blobs, 'tmp'), bytes))
        .catch((err) => Promise.reject(unwritable(fileOf(id), err)));
    }
    return { blob: id, bytes: bytes.length };
  }

  async function getBlob(ref: Pick<BlobRef, 'blob'>): Promise<Uint8Array> {
    const id = ref.blob;
    const row = await ctx.db.read((tx) =>
      tx.selectFrom('blob').select('base64').where('id', '=', id).executeTakeFirst(),
    );
    const bytes = row && Buffer.from(row.base64, 'base64');
    if (bytes && (await sha256(bytes)) === id) return bytes;
    const file = /^[0-9a-f]{64}$/.test(id) ? await readWhole(fileOf(id), id) : undefined;
    if (!file) throw lost(`blob ${id}, or holds it damaged`);
    return file;
  }

  return {
    putBlob,
    getBlob,
    async getText(ref) {
      return isBlobRef(ref) ? Buffer.from(await getBlob(ref)).toString('utf8') : ref.text;
    },
    async putText(text) {
      return Buffer.byteLength(text) <= INLINE_TEXT_BYTES ? { text } : putBlob(text);
    },
  } satisfies Pick<Journal, 'putBlob' | 'getBlob' | 'getText' | 'putText'>;
}

/** The file's content, or undefined when it is missing or not what its name says. */
async function readWhole(path: string, id: string): Promise<Buffer | undefined> {
  const bytes = await readFile(path).catch((err: NodeJS.ErrnoException) => {
    if (err.code === 'ENOENT') return undefined;
    throw unwritable(path, err);
  });
  return bytes && (await sha256(bytes)) === id ? bytes : undefined;
}

async function sha256(bytes: Uint8Array): Promise<string> {
  const hash = createHash('sha256');
  for (let from = 0; from < bytes.length; from += HASH_BYTES) {
    if (from > 0) await new Promise(setImmediate);
    hash.update(bytes.subarray(from, from + HASH_BYTES));
  }
  return hash.digest('hex');
}

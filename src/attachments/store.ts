import type { Attachment, AttachmentsRef } from '../domain/attachments.js';
import { IMAGE_TYPES, readBlobRef } from '../domain/blocks.js';
import type { Journal } from '../journal/journal.js';
import { MAX_FILES, MAX_IMAGES } from './limits.js';
import type { ReadAttachment } from './read.js';

/** Stores attachments: their content, and the list of them as one blob, which is all that a workflow gets. */
export async function storeAttachments(
  journal: Pick<Journal, 'putBlob'>,
  read: readonly ReadAttachment[],
): Promise<{ ref: AttachmentsRef; list: Attachment[] } | undefined> {
  if (read.length === 0) return undefined;
  const list: Attachment[] = [];
  for (const one of read) {
    const blob = await journal.putBlob(one.content);
    if (one.kind === 'file') list.push({ kind: 'file', name: one.name, blob });
    else list.push({ kind: 'image', name: one.name, mediaType: one.mediaType, blob });
  }
  return { ref: await journal.putBlob(JSON.stringify(list)), list };
}

/**
 * The list that a reference names. Anybody who reaches Temporal can send one, so it may be of anything.
 * @returns undefined when it is no such list
 * @throws LonghaulError `journal-lost`
 */
export async function loadAttachments(
  journal: Pick<Journal, 'getBlob'>,
  ref: AttachmentsRef,
): Promise<Attachment[] | undefined> {
  const json = Buffer.from(await journal.getBlob(ref)).toString('utf8');
  try {
    const list: unknown = JSON.parse(json);
    if (!Array.isArray(list) || list.length > MAX_IMAGES + MAX_FILES) return undefined;
    return list.every(isAttachment) ? list : undefined;
  } catch {
    return undefined;
  }
}

function isAttachment(value: unknown): value is Attachment {
  const { kind, name, mediaType, blob } = (value ?? {}) as Record<string, unknown>;
  if (typeof name !== 'string' || readBlobRef(blob) === undefined) return false;
  return kind === 'file' || (kind === 'image' && IMAGE_TYPES.some((type) => type === mediaType));
}

import { imageType } from '../attachments/image.js';
import { MAX_IMAGE_BYTES } from '../attachments/limits.js';
import { loadAttachments } from '../attachments/store.js';
import type { Attachment, AttachmentsRef } from '../domain/attachments.js';
import type { ImageBlock, ResultBlock } from '../domain/blocks.js';
import { LonghaulError } from '../domain/errors.js';
import { MAX_TEXT_BYTES } from '../domain/limits.js';
import type { Journal } from '../journal/journal.js';
import { fileText, LOST_ATTACHMENTS } from '../prompts/notices.js';

type Blobs = Pick<Journal, 'getBlob' | 'getText'>;

/** What was attached, for the log. A reference that leads nowhere is an empty list. */
export async function attachmentsOf(ref: AttachmentsRef | undefined, journal: Blobs): Promise<Attachment[]> {
  return (ref && (await orLost(loadAttachments(journal, ref)))) ?? [];
}

/**
 * What was attached, as the model gets it: images by reference, files as text. What the journal has lost, or what is not
 * what it says, costs itself and not the task: anybody who reaches Temporal can send a reference.
 */
export async function attachedBlocks(ref: AttachmentsRef | undefined, journal: Blobs): Promise<ResultBlock[]> {
  if (!ref) return [];
  const list = await orLost(loadAttachments(journal, ref));
  if (!list) return [{ type: 'text', text: LOST_ATTACHMENTS }];
  const blocks: ResultBlock[] = [];
  for (const one of list) {
    const block = one.kind === 'image' ? await imageBlock(one, journal) : await fileBlock(one, journal);
    blocks.push(block ?? { type: 'text', text: `${LOST_ATTACHMENTS} (${one.name})` });
  }
  return blocks;
}

async function imageBlock(
  { blob, mediaType }: Extract<Attachment, { kind: 'image' }>,
  journal: Blobs,
): Promise<ImageBlock | undefined> {
  const bytes = await orLost(journal.getBlob(blob));
  if (!bytes || bytes.length > MAX_IMAGE_BYTES || imageType(Buffer.from(bytes)) !== mediaType) return undefined;
  return { type: 'image', mediaType, blob: blob.blob, bytes: bytes.length };
}

async function fileBlock({ name, blob }: Attachment, journal: Blobs): Promise<ResultBlock | undefined> {
  if (blob.bytes > MAX_TEXT_BYTES) return undefined;
  const text = await orLost(journal.getText(blob));
  return text === undefined ? undefined : { type: 'text', text: fileText(name, text, blob.blob) };
}

async function orLost<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (err) {
    if (LonghaulError.is(err) && err.slug === 'journal-lost') return undefined;
    throw err;
  }
}

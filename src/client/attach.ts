import type { Attachment, AttachmentsRef } from '../domain/attachments.js';
import type { Journal } from '../journal/journal.js';
import type { AttachRequest } from './types.js';

/**
 * Reads, checks and stores what goes with a text; undefined when nothing does.
 * @param workspace real path
 * @throws LonghaulError `bad-attachment`; then nothing is stored
 */
export async function attach(
  journal: Pick<Journal, 'putBlob'>,
  { images, files }: AttachRequest,
  text: string,
  workspace: string | undefined,
): Promise<{ ref: AttachmentsRef; list: Attachment[] } | undefined> {
  if (!images?.length && !files?.length) return undefined;
  const { readAttachments } = await import('../attachments/read.js');
  const { storeAttachments } = await import('../attachments/store.js');
  const given = { ...(images && { images }), ...(files && { files }) };
  return storeAttachments(journal, await readAttachments(given, workspace, Buffer.byteLength(text)));
}

import type { BlobRef, ImageType } from './blocks.js';

/** An image or a text file that goes with a prompt, a message or an answer; its content is a blob of the journal. */
export type Attachment =
  | { kind: 'image'; name: string; mediaType: ImageType; blob: BlobRef }
  | { kind: 'file'; name: string; blob: BlobRef };

/** A blob that holds the JSON of an `Attachment[]`: in workflow state attachments are one reference. */
export type AttachmentsRef = BlobRef;

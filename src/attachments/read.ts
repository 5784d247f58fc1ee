import { realpath } from 'node:fs/promises';
import { basename, relative, resolve, sep } from 'node:path';
import type { Attachment } from '../domain/attachments.js';
import { IMAGE_TYPES } from '../domain/blocks.js';
import { LonghaulError } from '../domain/errors.js';
import { MAX_TEXT_BYTES } from '../domain/limits.js';
import { cut } from '../domain/text.js';
import { readGivenFile } from '../workspace/given-file.js';
import { isInside } from '../workspace/paths.js';
import { decodeText, describeBinary } from '../workspace/text-file.js';
import { hasPixels, readImage } from './image.js';
import { MAX_FILES, MAX_IMAGE_BYTES, MAX_IMAGE_SIDE, MAX_IMAGES, MAX_IMAGES_BYTES } from './limits.js';

/** Files of this machine that go with a prompt, a message or an answer: paths, relative to the process's folder. */
export interface AttachRequest {
  /** PNG, JPEG, GIF and WebP; told by content, whatever the name. */
  images?: readonly string[];
  /** Text files. */
  files?: readonly string[];
}

/** An attachment whose content is not stored yet. */
export type ReadAttachment =
  | { kind: 'image'; name: string; mediaType: Extract<Attachment, { kind: 'image' }>['mediaType']; content: Buffer }
  | { kind: 'file'; name: string; content: string };

/** Characters of a name that the model and people see. */
const MAX_NAME = 200;

/**
 * Reads what is to be attached, and refuses what the model's provider would refuse.
 * @param workspace real path; files in it are named by their path there
 * @param textBytes bytes of the text that they go with
 * @throws LonghaulError `bad-attachment` that names the file
 */
export async function readAttachments(
  { images = [], files = [] }: AttachRequest,
  workspace: string | undefined,
  textBytes: number,
): Promise<ReadAttachment[]> {
  if (images.length > MAX_IMAGES)
    throw bad(`${images.length} images are too many; ${MAX_IMAGES} may go with one text.`);
  if (files.length > MAX_FILES) throw bad(`${files.length} files are too many; ${MAX_FILES} may go with one text.`);
  const read: ReadAttachment[] = [];
  let imageBytes = 0;
  for (const path of images) {
    const image = await readImageFile(path, await nameOf(path, workspace));
    imageBytes += image.content.length;
    read.push(image);
  }
  if (imageBytes > MAX_IMAGES_BYTES) {
    throw bad(`The images have ${bytesOf(imageBytes)} together; ${bytesOf(MAX_IMAGES_BYTES)} are the limit.`);
  }
  let allText = textBytes;
  for (const path of files) {
    const file = await readTextFile(path, await nameOf(path, workspace));
    allText += Buffer.byteLength(file.content);
    read.push(file);
  }
  if (files.length > 0 && allText > MAX_TEXT_BYTES) {
    throw bad(
      `The text and its files have ${bytesOf(allText)} together; ${bytesOf(MAX_TEXT_BYTES)} are the limit.`,
      'Leave large files in the workspace, and name them in the text.',
    );
  }
  return read;
}

async function readImageFile(path: string, name: string): Promise<Extract<ReadAttachment, { kind: 'image' }>> {
  const content = await contentOf(path, 'image', MAX_IMAGE_BYTES);
  const facts = readImage(content);
  const what = `The image ${path}`;
  if (!facts) {
    const hint = decodeText(content) === undefined ? '' : ' A text goes with --file.';
    throw bad(`${what} is no PNG, JPEG, GIF or WebP image, or is cut or damaged.${hint}`);
  }
  const side = Math.max(facts.width, facts.height);
  if (side > MAX_IMAGE_SIDE) {
    throw bad(`${what} is ${facts.width} × ${facts.height} px; ${MAX_IMAGE_SIDE} px a side are the limit.`);
  }
  if (!(await hasPixels(content))) throw bad(`${what} is damaged: its pixels cannot be unpacked.`);
  return { kind: 'image', name, mediaType: facts.mediaType, content };
}

async function readTextFile(path: string, name: string): Promise<Extract<ReadAttachment, { kind: 'file' }>> {
  const content = await contentOf(path, 'file', MAX_TEXT_BYTES);
  const text = decodeText(content);
  if (text) return { kind: 'file', name, content: text.text };
  const kind = describeBinary(content);
  const hint = IMAGE_TYPES.some((type) => type === readImage(content)?.mediaType) ? ' An image goes with --image.' : '';
  throw bad(`The file ${path} is ${kind}, not text.${hint}`);
}

async function contentOf(path: string, kind: 'image' | 'file', most: number): Promise<Buffer> {
  const read = await readGivenFile(resolve(path), most);
  if ('problem' in read) throw bad(`The ${kind} ${path} ${read.problem}.`);
  if (read.bytes.length === 0) throw bad(`The ${kind} ${path} is empty.`);
  return read.bytes;
}

/** Its path in the workspace, so that tools can be pointed at it; elsewhere its last part. */
async function nameOf(path: string, workspace: string | undefined): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  const inside = real !== undefined && workspace !== undefined && isInside(workspace, real);
  return cut(inside ? relative(workspace, real).split(sep).join('/') : basename(path), MAX_NAME);
}

function bytesOf(count: number): string {
  return `${count.toLocaleString('en-US')} bytes`;
}

function bad(message: string, next = 'Name files that fit, or leave them out.'): LonghaulError {
  return new LonghaulError('bad-attachment', message, { kept: 'Nothing was started or sent.', next });
}

import { readImage } from './image.js';
import type { Violation } from './rules.js';
import type { RequestBlock, RequestMessage } from './shape.js';

/** Limits as the Messages API documents them: 5 MB of base64, 8000 px, 2000 px when there are many, 100 a request. */
const MAX_ENCODED = 5 * 1024 * 1024;
const MAX_SIDE = 8000;
const MAX_SIDE_MANY = 2000;
const MANY = 20;
const MAX_IMAGES = 100;

type Image = Extract<RequestBlock, { type: 'image' }>;

/** V11 */
export function checkImages(messages: RequestMessage[]): Violation[] {
  const images = messages.flatMap((message, index) =>
    message.content.flatMap((block, at) =>
      imagesIn(block).map((image) => ({ image, path: `messages.${index}.content.${at}` })),
    ),
  );
  const found: Violation[] = [];
  if (images.length > MAX_IMAGES) {
    found.push({ rule: 'V11', message: `messages: ${images.length} images are more than ${MAX_IMAGES}` });
  }
  for (const { image, path } of images) {
    const problem = problemOf(image, images.length > MANY ? MAX_SIDE_MANY : MAX_SIDE);
    if (problem) found.push({ rule: 'V11', message: `${path}: ${problem}` });
  }
  return found;
}

function imagesIn(block: RequestBlock): Image[] {
  if (block.type === 'image') return [block];
  if (block.type !== 'tool_result') return [];
  return (block.content ?? []).filter((inner): inner is Image => inner.type === 'image');
}

function problemOf({ source }: Image, maxSide: number): string | undefined {
  if (source.type !== 'base64') return undefined;
  if (source.data.length > MAX_ENCODED) return `an image of ${source.data.length} bytes is over ${MAX_ENCODED}`;
  const bytes = Buffer.from(source.data, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== source.data) return 'the image is not base64';
  const image = readImage(bytes);
  if (image === undefined) return 'the image could not be decoded';
  if (image.mediaType !== source.media_type) return `the image is ${image.mediaType}, not ${source.media_type}`;
  const side = Math.max(image.width, image.height);
  return side > maxSide ? `a side of ${side} px is over ${maxSide}` : undefined;
}

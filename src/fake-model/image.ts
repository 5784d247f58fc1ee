import { deflateSync, inflateSync } from 'node:zlib';
import { crc32, type ImageFacts, pngPixels, readImage as readStructure } from '../attachments/image.js';

/** Enough for 8000 × 8000 px of 16-bit RGBA; more is not decoded. */
const MAX_PIXEL_BYTES = 8 * 8000 * 8001;

/** What an image is, or undefined when it is none, is cut short or is damaged; the pixels of a PNG are decoded. */
export function readImage(bytes: Buffer): ImageFacts | undefined {
  const facts = readStructure(bytes);
  if (facts?.mediaType !== 'image/png') return facts;
  try {
    const png = pngPixels(bytes);
    const decoded = png && inflateSync(png.pixels, { maxOutputLength: MAX_PIXEL_BYTES }).length;
    return decoded !== undefined && decoded >= (png?.needed ?? 0) ? facts : undefined;
  } catch {
    return undefined;
  }
}

/** A grey PNG of that size, for tests. */
export function makePng(width: number, height: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 0, 0, 0, 0], 8);
  const pixels = deflateSync(Buffer.alloc(height * (width + 1)));
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

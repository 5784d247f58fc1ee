import { createInflate } from 'node:zlib';
import type { ImageType } from '../domain/blocks.js';

export interface ImageFacts {
  mediaType: ImageType;
  width: number;
  height: number;
}

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** What an image is, by its content; undefined when it is none, is cut short or is damaged in a way that its structure shows. */
export function readImage(bytes: Buffer): ImageFacts | undefined {
  try {
    const facts = readPng(bytes) ?? readJpeg(bytes) ?? readGif(bytes) ?? readWebp(bytes);
    return facts && facts.width > 0 && facts.height > 0 ? facts : undefined;
  } catch {
    return undefined;
  }
}

/** The type that the first bytes tell. */
export function imageType(bytes: Buffer): ImageType | undefined {
  if (bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return 'image/png';
  if (bytes.subarray(0, 3).toString('hex') === 'ffd8ff') return 'image/jpeg';
  if (/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))) return 'image/gif';
  const riff = bytes.toString('latin1', 0, 12);
  if (riff.startsWith('RIFF') && riff.endsWith('WEBP')) return 'image/webp';
  return undefined;
}

/** The compressed pixels of a PNG, and how many bytes they have to be; undefined when it is no PNG. @throws Error when it is cut */
export function pngPixels(bytes: Buffer): { pixels: Buffer; needed: number } | undefined {
  if (!bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return undefined;
  const width = bytes.readUInt32BE(16);
  const height = bytes.readUInt32BE(20);
  const interlaced = bytes[28] === 1;
  const needed = interlaced ? 1 : height * (1 + Math.ceil((width * bitsPerPixel(bytes[24], bytes[25])) / 8));
  const pixels: Buffer[] = [];
  for (let at = 8; ; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const end = at + 8 + length;
    if (crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) throw new Error('The PNG is damaged.');
    if (type === 'IDAT') pixels.push(bytes.subarray(at + 8, end));
    if (type === 'IEND') return { pixels: Buffer.concat(pixels), needed };
    at = end + 4;
  }
}

/** Whether the pixels of an image are there, as far as that can be told without decoding it: of a PNG they are unpacked. */
export async function hasPixels(bytes: Buffer): Promise<boolean> {
  const png = pngPixels(bytes);
  if (!png) return true;
  const inflate = createInflate();
  inflate.end(png.pixels);
  let length = 0;
  try {
    for await (const piece of inflate) {
      length += (piece as Buffer).length;
      if (length >= png.needed) return true;
    }
  } catch {
    return false;
  }
  return length >= png.needed;
}

function readPng(bytes: Buffer): ImageFacts | undefined {
  if (!pngPixels(bytes)) return undefined;
  return { mediaType: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function bitsPerPixel(depth = 0, color = 0): number {
  const channels: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
  return depth * (channels[color] ?? Number.NaN);
}

function readJpeg(bytes: Buffer): ImageFacts | undefined {
  if (bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  if (bytes.lastIndexOf(Buffer.from([0xff, 0xd9])) < Math.max(2, bytes.length - 64)) return undefined;
  for (let at = 2; at < bytes.length; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] as number;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) {
      return { mediaType: 'image/jpeg', height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    }
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

function readGif(bytes: Buffer): ImageFacts | undefined {
  if (!/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6)) || bytes.at(-1) !== 0x3b) return undefined;
  return { mediaType: 'image/gif', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

function readWebp(bytes: Buffer): ImageFacts | undefined {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  if (bytes.readUInt32LE(4) + 8 > bytes.length) return undefined;
  const mediaType = 'image/webp';
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { mediaType, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21);
      return { mediaType, width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { mediaType, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value >>> 0;
});

/** Of zlib from Node 22 on, which is newer than the oldest Node supported here. */
export function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = (CRC_TABLE[(value ^ byte) & 0xff] as number) ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

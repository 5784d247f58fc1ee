import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import { ToolError } from '../tools/tool.js';

export type TextEncoding = 'utf-8' | 'utf-8-bom' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** A text file without its byte order mark, and what is needed to write it back as it was. */
export interface DecodedText {
  text: string;
  encoding: TextEncoding;
}

/** How much is looked at to tell text from binary, as in git. */
const SNIFF_UNITS = 8000;
/** Share of control characters above which bytes that are not UTF-8 are taken for binary. */
const MAX_CONTROL_SHARE = 0.05;

/** U+FFFD in UTF-8. */
const REPLACEMENT = Buffer.from([0xef, 0xbf, 0xbd]);
const UTF8_BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const UTF16LE_BOM = Buffer.from([0xff, 0xfe]);
const UTF16BE_BOM = Buffer.from([0xfe, 0xff]);

/** Bytes without a character in Windows-1252; the web's decoder reads them as the C1 controls of the same number. */
const UNDEFINED_1252 = [0x81, 0x8d, 0x8f, 0x90, 0x9d];
const HIGH_1252 = decodeHigh1252();
const UNITS_1252 = Uint16Array.from({ length: 256 }, (_, byte) =>
  byte < 0x80 ? byte : HIGH_1252.charCodeAt(byte - 0x80),
);
/** For each UTF-16 unit its byte; 0 for those that have none, and for NUL. */
const BYTES_1252 = new Uint8Array(0x10000);
UNITS_1252.forEach((unit, byte) => {
  BYTES_1252[unit] = byte;
});

/**
 * Decodes by content: byte order mark, else UTF-8 when it is valid, else Windows-1252. Every byte survives
 * {@link encodeText}; files of other single- or multi-byte encodings read as odd characters but keep their bytes.
 *
 * @returns undefined when the bytes are not text
 */
export function decodeText(bytes: Buffer): DecodedText | undefined {
  const decoded = decodeAny(bytes);
  if (decoded === undefined || looksBinary(bytes, decoded)) return undefined;
  return decoded;
}

function decodeAny(bytes: Buffer): DecodedText | undefined {
  if (startsWith(bytes, UTF16LE_BOM) || startsWith(bytes, UTF16BE_BOM)) {
    if (bytes.length % 2 === 1) return undefined;
    const little = startsWith(bytes, UTF16LE_BOM);
    const units = bytes.subarray(2);
    const text = (little ? units : Buffer.from(units).swap16()).toString('utf16le');
    return { text, encoding: little ? 'utf-16le' : 'utf-16be' };
  }
  if (isUtf8(bytes)) {
    return startsWith(bytes, UTF8_BOM)
      ? { text: bytes.toString('utf8', UTF8_BOM.length), encoding: 'utf-8-bom' }
      : { text: bytes.toString('utf8'), encoding: 'utf-8' };
  }
  return { text: decode1252(bytes), encoding: 'windows-1252' };
}

function looksBinary(bytes: Buffer, { text, encoding }: DecodedText): boolean {
  if (bytes.subarray(0, 5).toString('latin1') === '%PDF-') return true;
  const head = text.slice(0, SNIFF_UNITS);
  if (head.includes('\0')) return true;
  if (encoding !== 'windows-1252') return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: counting them is the point
  const controls = head.match(/[\x01-\x07\x0e-\x1a\x1c-\x1f]/g)?.length ?? 0;
  return controls > head.length * MAX_CONTROL_SHARE;
}

/**
 * Encodes text as the file it came from was encoded, byte order mark included.
 *
 * @throws ToolError when a character has no form in that encoding: nothing is replaced by a question mark
 */
export function encodeText({ text, encoding }: DecodedText, display: string): Buffer {
  switch (encoding) {
    case 'utf-8':
      return encodeUtf8(text, display);
    case 'utf-8-bom':
      return Buffer.concat([UTF8_BOM, encodeUtf8(text, display)]);
    case 'utf-16le':
      return Buffer.concat([UTF16LE_BOM, Buffer.from(text, 'utf16le')]);
    case 'utf-16be':
      return Buffer.concat([UTF16BE_BOM, Buffer.from(text, 'utf16le').swap16()]);
    case 'windows-1252':
      return encode1252(text, display);
  }
}

/** UTF-8 of a text that must be whole. @throws ToolError for half a surrogate pair, which UTF-8 cannot hold */
export function encodeUtf8(text: string, display: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  // Half a pair is encoded as U+FFFD; only then it is worth looking for it.
  const half = bytes.includes(REPLACEMENT) ? /\p{Surrogate}/u.exec(text) : null;
  if (half) {
    throw new ToolError(
      `The new content of "${display}" holds half of a surrogate pair (position ${half.index}), which is not a` +
        ' character. Nothing was written. Send the text again with the whole character.',
    );
  }
  return bytes;
}

/**
 * Decodes a file for an edit.
 *
 * @throws ToolError when it is binary, or when writing it back would change bytes outside the edit
 */
export function decodeForEdit(bytes: Buffer, display: string): DecodedText {
  const decoded = decodeText(bytes);
  if (decoded === undefined) {
    throw new ToolError(`"${display}" is ${describeBinary(bytes)}; it cannot be edited as text. Nothing was changed.`);
  }
  if (!encodeText(decoded, display).equals(bytes)) {
    throw new ToolError(`"${display}" has an encoding that an edit would not keep. Nothing was changed.`);
  }
  return decoded;
}

/** Names what a file that is not text holds, by its first bytes. */
export function describeBinary(bytes: Buffer): string {
  const head = bytes.subarray(0, 12).toString('latin1');
  if (head.startsWith('\x89PNG')) return 'a PNG image';
  if (head.startsWith('\xff\xd8\xff')) return 'a JPEG image';
  if (head.startsWith('GIF8')) return 'a GIF image';
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'a WebP image';
  if (head.startsWith('%PDF-')) return 'a PDF document';
  if (head.startsWith('PK\x03\x04')) return 'a ZIP archive or office document';
  return 'a binary file';
}

function startsWith(bytes: Buffer, mark: Buffer): boolean {
  return bytes.subarray(0, mark.length).equals(mark);
}

function decodeHigh1252(): string {
  const bytes = Buffer.from(Array.from({ length: 128 }, (_, index) => index + 0x80));
  return Array.from(iconv.decode(bytes, 'windows-1252'), (char, index) =>
    UNDEFINED_1252.includes(index + 0x80) ? String.fromCharCode(index + 0x80) : char,
  ).join('');
}

/** Reads bytes as Windows-1252; every byte has a character. */
export function decode1252(bytes: Buffer): string {
  const units = new Uint16Array(bytes.length);
  for (let at = 0; at < bytes.length; at++) units[at] = UNITS_1252[bytes[at] ?? 0] ?? 0;
  return new TextDecoder('utf-16le', { ignoreBOM: true }).decode(units);
}

function encode1252(text: string, display: string): Buffer {
  const bytes = Buffer.allocUnsafe(text.length);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const byte = BYTES_1252[unit] ?? 0;
    if (byte === 0 && unit !== 0) {
      const char = String.fromCodePoint(text.codePointAt(at) ?? unit);
      throw new ToolError(
        `"${display}" is not UTF-8; read as Windows-1252, it cannot hold the character "${char}". Nothing was changed.` +
          ' Use only characters of that encoding, or write the whole file anew with write_to_file (as UTF-8).',
      );
    }
    bytes[at] = byte;
  }
  return bytes;
}

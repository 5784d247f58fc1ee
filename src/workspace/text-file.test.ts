import fc from 'fast-check';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { ToolError } from '../tools/tool.js';
import { decodeForEdit, decodeText, describeBinary, encodeText, encodeUtf8, type TextEncoding } from './text-file.js';

test('every byte survives decoding and encoding, whatever the bytes are', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom('', 'efbbbf', 'fffe', 'feff'), (raw, mark) => {
      const bytes = Buffer.concat([Buffer.from(mark, 'hex'), raw]);
      const decoded = decodeText(bytes);
      if (decoded) expect(encodeText(decoded, 'f')).toEqual(bytes);
    }),
    { numRuns: 2000 },
  );
});

test('encodings are told by content', () => {
  const text = 'Käse “für” 5 €\r\nx\n';
  const cases: [TextEncoding, Buffer][] = [
    ['utf-8', Buffer.from(text)],
    ['utf-8-bom', Buffer.from(`\ufeff${text}`)],
    ['utf-16le', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['utf-16be', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['windows-1252', iconv.encode(text, 'windows-1252')],
  ];
  for (const [encoding, bytes] of cases) expect(decodeText(bytes)).toEqual({ text, encoding });
  expect(decodeText(Buffer.alloc(0))).toEqual({ text: '', encoding: 'utf-8' });
});

test('every byte has its own character in Windows-1252', () => {
  const bytes = Buffer.from(Array.from({ length: 128 }, (_, i) => i + 128));
  const decoded = decodeText(bytes);
  expect(decoded?.encoding).toBe('windows-1252');
  expect(new Set(decoded?.text).size).toBe(128);
  expect(decoded?.text).not.toContain('\ufffd');
});

test('binary files are told by content too, and named', () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d', 'hex');
  expect(decodeText(png)).toBeUndefined();
  expect(describeBinary(png)).toBe('a PNG image');
  expect(decodeText(Buffer.from('%PDF-1.7\nno NUL here'))).toBeUndefined();
  expect(decodeText(Buffer.from([0xff, 0xfe, 0x41]))).toBeUndefined();
  expect(decodeText(Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0]))).toBeUndefined();
  expect(decodeText(Buffer.from('plain text named x.jpeg'))?.text).toBe('plain text named x.jpeg');
  expect(() => decodeForEdit(png, 'x.png')).toThrow('"x.png" is a PNG image');
});

test('nothing is written as a replacement character', () => {
  expect(() => encodeText({ text: 'a → b', encoding: 'windows-1252' }, 'f')).toThrow('cannot hold the character "→"');
  expect(() => encodeText({ text: '\u{1f600}', encoding: 'windows-1252' }, 'f')).toThrow('"\u{1f600}"');
  expect(() => encodeUtf8('a\ud83d', 'f')).toThrow(ToolError);
  expect(encodeUtf8('a\u{1f600}', 'f').toString('utf8')).toBe('a\u{1f600}');
});

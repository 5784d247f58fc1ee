import { promisify } from 'node:util';
import { gunzip, inflateRaw } from 'node:zlib';

/** Largest executable that is unpacked, in bytes: over twice the largest known (160 MB). */
const MAX_BYTES = 400 * 1024 * 1024;

const gunzipAsync = promisify(gunzip);
const inflateRawAsync = promisify(inflateRaw);

/** The file named `name` (in any folder) of a gzipped tar archive. Throws when it is not there. */
export async function fileFromTarGz(archive: Buffer, name: string): Promise<Buffer> {
  const tar = await gunzipAsync(archive, { maxOutputLength: MAX_BYTES });
  for (let at = 0; at + 512 <= tar.length; ) {
    const path = cString(tar.subarray(at, at + 100));
    const size = Number.parseInt(cString(tar.subarray(at + 124, at + 136)).trim() || '0', 8);
    const type = String.fromCharCode(tar[at + 156] ?? 0);
    const start = at + 512;
    if ((type === '0' || type === '\0') && baseName(path) === name) return exactly(tar, start, size);
    at = start + Math.ceil(size / 512) * 512;
  }
  throw new Error(`the archive holds no ${name}`);
}

/** The file named `name` (in any folder) of a zip archive. Throws when it is not there. */
export async function fileFromZip(zip: Buffer, name: string): Promise<Buffer> {
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end < 0) throw new Error('not a zip archive');
  let at = zip.readUInt32LE(end + 16);
  for (let n = zip.readUInt16LE(end + 10); n > 0; n--) {
    if (zip.readUInt32LE(at) !== 0x02014b50) throw new Error('damaged zip archive');
    const nameLength = zip.readUInt16LE(at + 28);
    const path = zip.toString('utf8', at + 46, at + 46 + nameLength);
    if (baseName(path) === name) {
      const local = zip.readUInt32LE(at + 42);
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const packed = exactly(zip, start, zip.readUInt32LE(at + 20));
      return zip.readUInt16LE(at + 10) === 0 ? packed : inflateRawAsync(packed, { maxOutputLength: MAX_BYTES });
    }
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  throw new Error(`the archive holds no ${name}`);
}

function exactly(from: Buffer, start: number, size: number): Buffer {
  if (start + size > from.length) throw new Error('the archive ends too early');
  return from.subarray(start, start + size);
}

function cString(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end < 0 ? bytes.length : end);
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

import { describe, expect, it } from 'vitest';
import { makePng, readImage } from './image.js';

const JPEG = Buffer.from(
  'ffd8ffe000104a46494600010100000100010000ffc0000b080010002001011100ffda0008010100003f00d2cfffd9',
  'hex',
);
const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const WEBP = Buffer.from('UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==', 'base64');

describe('readImage', () => {
  it('tells kind and size', () => {
    expect(readImage(makePng(3, 2))).toEqual({ mediaType: 'image/png', width: 3, height: 2 });
    expect(readImage(JPEG)).toEqual({ mediaType: 'image/jpeg', width: 32, height: 16 });
    expect(readImage(GIF)).toEqual({ mediaType: 'image/gif', width: 1, height: 1 });
    expect(readImage(WEBP)).toEqual({ mediaType: 'image/webp', width: 1, height: 1 });
  });

  it('knows what is cut or damaged', () => {
    const good = makePng(30, 20);
    for (let length = 0; length < good.length; length++) expect(readImage(good.subarray(0, length))).toBeUndefined();
    const damaged = Buffer.from(good);
    damaged[45] = (damaged[45] as number) ^ 1;
    expect(readImage(damaged)).toBeUndefined();
    expect(readImage(JPEG.subarray(0, -2))).toBeUndefined();
    expect(readImage(GIF.subarray(0, -1))).toBeUndefined();
    expect(readImage(WEBP.subarray(0, -4))).toBeUndefined();
    expect(readImage(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))).toBeUndefined();
  });
});

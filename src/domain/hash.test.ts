import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HASH_LENGTH, shortHash } from './hash.js';

it('gives the reference values of 64-bit FNV-1a, at a fixed length', () => {
  const asNumber = (hash: string) => BigInt(`0x${Buffer.from(`A${hash}`, 'base64url').toString('hex')}`);
  expect(asNumber(shortHash('')).toString(16)).toBe('cbf29ce484222325');
  expect(asNumber(shortHash('a')).toString(16)).toBe('af63dc4c8601ec8c');
  fc.assert(fc.property(fc.string(), (text) => shortHash(text).length === HASH_LENGTH));
});

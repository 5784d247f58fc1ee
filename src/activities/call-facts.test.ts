import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HASH_LENGTH } from '../domain/hash.js';
import { signature } from './call-facts.js';

/** The same value with the keys of all its objects in another order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, one]) => [key, turned(one)]),
  );
}

test('the same call has the same signature, in whatever order its arguments come', () => {
  fc.assert(
    fc.property(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()), (tool, args) => {
      expect(signature(tool, turned(args))).toBe(signature(tool, args));
      expect(signature(tool, args)).toHaveLength(HASH_LENGTH);
    }),
  );
});

test('calls that differ have others', () => {
  const calls: [string, unknown][] = [
    ['a', {}],
    ['b', {}],
    ['a', { path: 'a' }],
    ['a', { path: ['a'] }],
    ['a', { path: { a: 1 } }],
    ['a', { path: [['a', 1]] }],
    ['a', { path: [1, 2] }],
    ['a', { path: [2, 1] }],
    ['a', { path: '1' }],
    ['a', { path: 1 }],
  ];
  expect(new Set(calls.map(([tool, args]) => signature(tool, args))).size).toBe(calls.length);
});

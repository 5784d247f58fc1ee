import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slugify } from './slugify.js';

test('lower-cases and joins words with hyphens', () => {
  assert.equal(slugify('Release notes'), 'release-notes');
});

test('keeps the base form of letters', () => {
  assert.equal(slugify('Crème brûlée'), 'creme-brulee');
});

test('writes one hyphen for any run of other characters', () => {
  assert.equal(slugify('Salt & pepper'), 'salt-pepper');
});

test('has no hyphen at either end', () => {
  assert.equal(slugify('  Hello, World! '), 'hello-world');
});

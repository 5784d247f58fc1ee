import { expect, test } from 'vitest';
import { readTodo } from './todo.js';

test('counts the items of a check list, whatever stands between them', () => {
  const text = '# Plan\n- [x] look\n  * [X] closely\n\n1. [ ] change it\n+ [ ] test it\nand so on';
  expect(readTodo(`\n${text}\n`)).toEqual({ text, done: 2, total: 4 });
});

test('is nothing without an item', () => {
  for (const given of [
    undefined,
    null,
    7,
    ['- [ ] a'],
    '',
    ' \n',
    'All done.',
    '- a\n- b',
    '- [ ]',
    '- [y] a',
    '[x] a',
  ]) {
    expect(readTodo(given)).toBeUndefined();
  }
});

test('keeps the beginning of one that is far too long', () => {
  const read = readTodo(Array.from({ length: 2_000 }, (_, at) => `- [x] item ${at}`).join('\n'));
  expect(read?.text.length).toBeLessThanOrEqual(8_000);
  expect(read?.total).toBe(read?.done);
  expect(read?.total).toBeGreaterThan(400);
});

import { expect, it } from 'vitest';
import { nearYesOrNo } from './typos.js';

it('knows what is nearly yes or no, and what is a text', () => {
  for (const word of ['yse', 'YEP', 'nn', 'no!', 'ok', 'nope', 'o'])
    expect([word, nearYesOrNo(word)]).toEqual([word, true]);
  for (const word of ['maybe', 'yesterday', 'later', 'use yarn', '1', '']) expect(nearYesOrNo(word)).toBe(false);
});

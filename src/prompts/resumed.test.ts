import { describe, expect, it } from 'vitest';
import { agoWords, resumedText } from './resumed.js';

const MINUTE = 60_000;

describe('the note to a task that is taken up again', () => {
  it.each([
    [0, 'just now'],
    [MINUTE - 1, 'just now'],
    [MINUTE, '1 minute ago'],
    [59 * MINUTE + 59_999, '59 minutes ago'],
    [60 * MINUTE, '1 hour ago'],
    [47 * 60 * MINUTE, '1 day ago'],
    [48 * 60 * MINUTE, '2 days ago'],
  ])('says of %i ms: %s', (ms, words) => {
    expect(agoWords(ms)).toBe(words);
  });

  it.each([
    ['act', true, '<user_message>', 'plan_mode_respond'],
    ['act', false, 'last step that is done', 'user_message'],
    ['plan', true, 'plan_mode_respond', 'last step'],
    ['plan', false, 'ask through plan_mode_respond', 'user_message'],
  ] as const)('fits %s mode, with words: %s', (mode, withText, has, lacks) => {
    const text = resumedText({ notice: 'resumed', agoMs: 0, after: 'lost', mode, withText });
    expect(text).toContain(has);
    expect(text).not.toContain(lacks);
  });

  it('says how the task had ended', () => {
    const endings = (['completed', 'budget', 'cancelled', 'failed', 'lost'] as const).map((after) =>
      resumedText({ notice: 'resumed', agoMs: 0, after, mode: 'act', withText: false }),
    );
    expect(new Set(endings).size).toBe(5);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ShownText, shownText } from './shown-text.js';

const pieces = fc.array(
  fc.oneof(
    fc.constantFrom('<thinking>', '</thinking>', '<think>', '</think>', '<function_calls>', '</function_calls>'),
    fc.constantFrom('<', '</', '<th', '<think', 'ing>', '>', '<thinker>', '<div>', '```', '\n```ts', ' ', '\n'),
    fc.string({ maxLength: 5 }),
  ),
  { maxLength: 30 },
);

/** What a viewer has put together from the pieces as they came. */
function joined(parts: readonly string[]): string {
  const shown = new ShownText();
  let text = '';
  for (const part of parts) {
    const piece = shown.push(part);
    if (piece.text === '') continue;
    expect(piece.offset).toBe(text.length);
    text += piece.text;
  }
  return text;
}

describe('shown text', () => {
  it('leaves thinking tags out, and keeps what stands in them', () => {
    expect(shownText('<thinking>a</thinking>b <think>c</think><function_calls>d</function_calls>')).toBe('ab cd');
    expect(joined(['<thin', 'king>a</th', 'inking>b'])).toBe('ab');
    expect(joined(['a < b', ' <div>'])).toBe('a < b <div>');
    expect(shownText('Look:\n```ts')).not.toContain('```');
  });

  it('is the text without the tags and a fence that opens at its end, however it was cut', () => {
    fc.assert(
      fc.property(pieces, fc.integer({ min: 1, max: 7 }), (parts, size) => {
        const text = parts.join('');
        const cut = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
          text.slice(at * size, (at + 1) * size),
        );
        const untagged = text.replace(/<\/?(?:thinking|think|function_calls)>/g, '');
        expect(joined(cut)).toBe(joined(parts));
        expect(shownText(text).startsWith(joined(cut))).toBe(true);
        expect(untagged.startsWith(shownText(text))).toBe(true);
        expect(untagged.slice(shownText(text).length)).toMatch(/^(?: {0,3}(?:`{3,}|~{3,})[^\n]*\s*)?$/);
      }),
      { numRuns: 1_000 },
    );
  });
});

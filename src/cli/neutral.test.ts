import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Neutraliser, neutralise, neutralLine } from './neutral.js';

const unsafe = /[^\P{Cc}\t\n]|[\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f]/u;
const parts = [
  '\u001b',
  '[',
  ']',
  '0',
  ';',
  'm',
  '\r',
  '\n',
  '\t',
  'a',
  'é',
  '\u009b',
  '\u202e',
  '😀',
  '\ud83d',
  '\u0007',
];
const tricky = fc.array(fc.constantFrom(...parts), { maxLength: 30 }).map((all) => all.join(''));
const anyText = fc.oneof(
  tricky,
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
);

describe('neutralise', () => {
  it('leaves nothing that a terminal acts on but tabs and line ends', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(neutralise(text)).not.toMatch(unsafe);
        expect(() => encodeURIComponent(neutralise(text))).not.toThrow();
      }),
    );
  });

  it('leaves ordinary text alone, and what it made itself', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = neutralise(text);
        expect(neutralise(once)).toBe(once);
      }),
    );
    expect(neutralise('naïve\tcafé\n日本語 😀 👩‍👩‍👧')).toBe('naïve\tcafé\n日本語 😀 👩‍👩‍👧');
  });

  it('gives the same for pieces as for the whole', () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 8 }), (pieces) => {
        const stream = new Neutraliser();
        const shown = pieces.map((piece) => stream.push(piece)).join('') + stream.flush();
        expect(shown).toBe(neutralise(pieces.join('')));
      }),
      { numRuns: 500 },
    );
  });

  it('drops colours, shows other sequences, and turns carriage returns into line ends', () => {
    expect(neutralise('\u001b[1;31mred\u001b[0m')).toBe('red');
    expect(neutralise('\u001b]52;c;aGk=\u0007')).toBe('␛]52;c;aGk=␇');
    expect(neutralise('10 %\r20 %\r\ndone')).toBe('10 %\n20 %\ndone');
    expect(neutralise('a\u202eb')).toBe('a<U+202E>b');
    expect(neutralLine('  a\n\u001b[2Jb ')).toBe('a ␛[2Jb');
  });
});

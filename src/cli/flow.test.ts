import { describe, expect, it } from 'vitest';
import { Flow, wrap } from './flow.js';

describe('wrapping', () => {
  it('breaks at words, indents what follows, and keeps the indentation of lines', () => {
    expect(wrap('one two three four', 9, '  ')).toBe('one two\n  three\n  four');
    expect(wrap('a\n  b c\n\nd', 20)).toBe('a\n  b c\n\nd');
    expect(wrap('one  two', 20)).toBe('one  two');
  });

  it('leaves words that are longer than a line to the terminal, and commands whole', () => {
    expect(wrap('see https://example.test/a/long/path now', 12)).toBe('see\nhttps://example.test/a/long/path\nnow');
    expect(wrap('say `longhaul attach ID` now', 20)).toBe('say\n`longhaul attach ID`\nnow');
  });

  it('breaks between wide characters, never inside one or before a mark that belongs to it', () => {
    expect(wrap('日本語の文', 5)).toBe('日本\n語の\n文');
    expect(wrap('👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧', 5)).toBe('👨‍👩‍👧👨‍👩‍👧\n👨‍👩‍👧');
    const flow = new Flow(() => 4);
    const out =
      ['か', '\u3099', 'き', '👩', '\u200d', '👧'].map((text) => flow.add({ text })).join('') + flow.endLine();
    expect(out).toBe('か\u3099き\n👩\u200d👧\n');
  });

  it('does not count colours', () => {
    expect(wrap('\u001b[31mred\u001b[0m and blue', 7)).toBe('\u001b[31mred\u001b[0m and\nblue');
  });

  it('goes on in a line of its own when something came in between', () => {
    const flow = new Flow(() => 20);
    flow.open('- ', '  ');
    expect(flow.add({ text: 'one two ' })).toBe('- one two');
    flow.interrupted();
    expect(flow.add({ text: 'three ' }) + flow.endLine()).toBe('  three\n');
    flow.add({ text: 'end ' });
    flow.interrupted();
    expect(flow.endLine()).toBe('');
  });

  it('follows a screen that changes its width', () => {
    let width = 20;
    const flow = new Flow(() => width);
    const first = flow.add({ text: 'one two three ' });
    width = 8;
    expect(first + flow.add({ text: 'four five' }) + flow.endLine()).toBe('one two three\nfour\nfive\n');
  });
});

import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Screen } from './screen.js';

function opened() {
  const out = new PassThrough();
  return { screen: new Screen(out), text: () => String(out.read() ?? '') };
}

describe('Screen', () => {
  it('joins the pieces of a text and gives interrupting lines a line of their own', () => {
    const { screen, text } = opened();
    screen.piece('a', 'I will ');
    screen.piece('a', 'look');
    screen.line('✓ read_file');
    screen.piece('a', ' further.\nDone');
    screen.endPiece('a');
    screen.line('end');
    expect(text()).toBe('I will look\n✓ read_file\n further.\nDone\nend\n');
  });

  it('puts the prefix at the start of each line once, however the text is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[ab\n]{0,6}$/), { maxLength: 10 }), (pieces) => {
        const { screen, text } = opened();
        for (const piece of pieces) screen.piece('out', piece, '| ');
        const whole = pieces.join('');
        expect(text()).toBe(whole.replace(/^(?=[ab])/gm, '| '));
      }),
    );
  });

  it('writes whole lines only above a footer, and lets go of the rest afterwards', () => {
    const { screen, text } = opened();
    const calls: string[] = [];
    screen.piece('a', 'begin');
    screen.setFooter({ hide: () => calls.push('hide'), show: () => calls.push('show') });
    screen.piece('a', 'one\ntw');
    expect(text()).toBe('begin\none\n');
    screen.piece('a', 'o');
    screen.setFooter(undefined);
    screen.endPiece('a');
    expect(text()).toBe('two\n');
    expect(calls).toEqual(['hide', 'show']);
  });

  it('loses nothing when another text interrupts a held line', () => {
    const { screen, text } = opened();
    screen.setFooter({ hide: () => {}, show: () => {} });
    screen.piece('a', 'left');
    screen.piece('b', 'right\n');
    screen.line('end');
    expect(text()).toBe('left\nright\nend\n');
  });
});

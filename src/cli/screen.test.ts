import { PassThrough, Writable } from 'node:stream';
import xterm from '@xterm/headless';
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

  it('shows a status line below the text, and takes it away before anything else is written', async () => {
    const terminal = new xterm.Terminal({ cols: 20, rows: 5, allowProposedApi: true });
    const out = new Writable({
      write: (chunk, _encoding, done) => terminal.write(String(chunk).replaceAll('\n', '\r\n'), done),
    });
    const screen = new Screen(Object.assign(out, { columns: 20 }));
    const seen = async () => {
      await new Promise<void>((done) => terminal.write('', done));
      const { active } = terminal.buffer;
      const lines = Array.from({ length: active.length }, (_, i) => active.getLine(i)?.translateToString(true) ?? '');
      return lines.join('\n').trimEnd();
    };
    screen.setStatus('busy · 1 s');
    expect(await seen()).toBe('busy · 1 s');
    screen.line('one');
    screen.piece('a', '\u001b[1m日本\u001b[0m half');
    screen.setStatus('busy · 10 s');
    screen.setStatus('busy · 2 s');
    expect(await seen()).toBe('one\n日本 half\nbusy · 2 s');
    screen.piece('a', ' whole');
    expect(await seen()).toBe('one\n日本 half whole');
    for (let i = 0; i < 6; i++) {
      screen.setStatus('busy');
      screen.piece('a', ' more and more of it');
    }
    screen.setStatus('busy');
    screen.setFooter({ hide: () => {}, show: () => {} });
    expect((await seen()).replaceAll('\n', '')).toBe(`one日本 half whole${' more and more of it'.repeat(6)}`);
    screen.setStatus('hidden by the footer');
    expect(await seen()).not.toContain('hidden');
  });
});

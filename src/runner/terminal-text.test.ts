import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LiveText, terminalText } from './terminal-text.js';

const E = '\x1b';

describe('what stands on the terminal', () => {
  test.each([
    ['colours', `${E}[31mred${E}[0m ${E}[1;38;5;9mx${E}[m`, 'red x'],
    ['progress', 'at 1%\rat 50%\rdone\n', 'done0%\n'],
    ['progress that erases', `loading 100%${E}[2K\rok\n`, 'ok\n'],
    ['erase to the end', `loading\rab${E}[K\n`, 'ab\n'],
    ['windows line ends', 'a\r\nb\r\n', 'a\nb\n'],
    ['backspaces', 'abc\b\bX\n', 'aXc\n'],
    ['titles and links', `${E}]0;title\x07a${E}]8;;http://x${E}\\b`, 'ab'],
    ['character sets', `${E}(Ba${E}=b`, 'ab'],
    ['NUL and bell', 'a\0b\x07c', 'a\ufffdbc'],
    ['an escape at the end', `a${E}[3`, 'a'],
    ['a title that never ends', `${E}]0;title\nnext`, '\nnext'],
    ['tabs', 'a\tb', 'a\tb'],
  ])('%s', (_, input, output) => {
    expect(terminalText(Buffer.from(input))).toBe(output);
  });

  test('what is not UTF-8 becomes U+FFFD', () => {
    expect(terminalText(Buffer.from([0xff, 0xfe, 0x00, 0x41, 0xe9, 0x0a]))).toBe('\ufffd\ufffd\ufffdA\ufffd\n');
  });

  test('half of an overwritten character becomes U+FFFD', () => {
    expect(terminalText(Buffer.from('😀\rx'))).toBe('x\ufffd');
  });
});

test('any bytes give text that JSON and a model can take', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
      for (const text of [terminalText(bytes), new LiveText().push(bytes)]) {
        for (const control of ['\0', E, '\x07']) expect(text).not.toContain(control);
        expect(text).not.toMatch(/\p{Cs}/u);
      }
    }),
  );
});

test('live text does not depend on where the pieces are cut', () => {
  const piece = fc.constantFrom(
    'é',
    '😀',
    'plain',
    '\r',
    '\n',
    `${E}[31m`,
    `${E}]0;t\x07`,
    `${E}]8;;u${E}\\`,
    '\0',
    '\xff',
  );
  fc.assert(
    fc.property(fc.array(piece), fc.array(fc.nat(30)), (pieces, cuts) => {
      const bytes = Buffer.from(pieces.join(''));
      const whole = new LiveText();
      const expected = whole.push(bytes) + whole.push();
      const live = new LiveText();
      let text = '';
      let at = 0;
      for (const cut of cuts) {
        text += live.push(bytes.subarray(at, at + cut));
        at += cut;
      }
      text += live.push(bytes.subarray(at)) + live.push();
      expect(text).toBe(expected);
    }),
  );
});

test('a line overwritten a hundred thousand times takes linear time', () => {
  const input = Buffer.from(`${'x'.repeat(200_000)}${'\ry'.repeat(100_000)}`);
  expect(terminalText(input)).toBe(`y${'x'.repeat(199_999)}`);
});

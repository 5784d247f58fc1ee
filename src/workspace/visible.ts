/**
 * Makes characters visible that could hide text from a person or drive a terminal: control characters other than tab
 * and line feed become their pictures (U+2400…), marks that reorder text become `\u202e` and the like.
 */
export function visible(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to be shown
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (char) => {
      const code = char.charCodeAt(0);
      if (code < 0x20) return String.fromCharCode(0x2400 + code);
      if (code === 0x7f) return '\u2421';
      return `\\u${code.toString(16).padStart(4, '0')}`;
    },
  );
}

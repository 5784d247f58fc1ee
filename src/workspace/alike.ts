/** Characters that models and editors swap for each other, and the one that stands for all of them. */
const FORMS: readonly [forms: RegExp, one: string][] = [
  [/[\u2018\u2019\u201a\u201b\u2032\u02bc]/g, "'"],
  [/[\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, '-'],
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, ' '],
  [/\u2026/g, '...'],
  [/[\u200b-\u200d\u2060\ufeff]/g, ''],
];
// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII has no other forms
const ASCII = /^[\x00-\x7f]*$/;

/**
 * A line in the form in which lines are compared that look the same: composed (NFC), with plain quotes, dashes and
 * blanks, without white space at both ends.
 */
export function alike(line: string): string {
  if (ASCII.test(line)) return line.trim();
  let text = line.normalize('NFC');
  for (const [forms, one] of FORMS) text = text.replace(forms, one);
  return text.trim();
}

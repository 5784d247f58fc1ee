import { describe, expect, it } from 'vitest';
import { diffLines } from './diff-lines.js';
import type { Paint } from './io.js';

const tags: Paint = (style, text) => `<${style}>${text}`;
const diff = (...lines: string[]) => ['--- a/x', '+++ b/x', ...lines].join('\n');

describe('a diff', () => {
  it('is coloured by what its lines mean, the names of the file apart from a line that looks like one', () => {
    const lines = diffLines(diff('@@ -1,3 +1,3 @@', ' same', '--- old', '-old', '+++ new', '+new'), tags, 20, 'show');
    expect(lines).toEqual([
      '<bold>--- a/x',
      '<bold>+++ b/x',
      '<cyan>@@ -1,3 +1,3 @@',
      ' same',
      '<red>--- old',
      '<red>-old',
      '<green>+++ new',
      '<green>+new',
    ]);
  });

  it('is cut in the middle when it is long, and says where all of it is', () => {
    const lines = diffLines(diff(...Array.from({ length: 100 }, (_, i) => `+${i}`)), tags, 30, '`show X` has it');
    expect(lines).toHaveLength(30);
    expect(lines.at(-1)).toBe('<green>+99');
    expect(lines[19]).toBe('<dim>… 73 lines not shown here: `show X` has it');
    expect(diffLines(diff('+a'), tags, 3, 'show')).toHaveLength(3);
  });

  it('that is none is shown as it is', () => {
    expect(diffLines('+ this is\n- a list', tags, 5, 'show')).toEqual(['+ this is', '- a list']);
  });
});

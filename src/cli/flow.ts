import { clusterWidth, displayWidth, graphemes } from './text.js';

/** A run of text in one style. */
export interface Span {
  text: string;
  style?: (text: string) => string;
  /** Never broken over two lines by us, such as code; the terminal breaks what is longer than a line. */
  whole?: boolean;
}

/** What belongs to the character before it, so that no line ends between them. */
const JOINS = /^[\p{M}\p{Join_Control}\p{Emoji_Modifier}]/u;
const TAB = '    ';

/**
 * Breaks text that arrives in pieces into lines at words. A word comes out when its end is known; one that is longer
 * than a line is left to the terminal.
 */
export class Flow {
  private column = 0;
  private first = '';
  private hang = '';
  private space = '';
  private word: Span[] = [];
  private fresh = true;

  /** @param width columns of a line, asked for at each word */
  constructor(private readonly width: () => number) {}

  /** What stands before the next line of text, and before each line that it is broken into after the first. */
  open(first: string, hang: string): void {
    this.first = first;
    this.hang = hang;
  }

  /** Something else was written in between: what follows stands on a line of its own. */
  interrupted(): void {
    if (!this.fresh && this.column > 0) this.column = 0;
  }

  /** @returns what can be shown now */
  add(span: Span): string {
    if (span.text === '') return '';
    if (span.whole) {
      this.word.push(span);
      return '';
    }
    let out = '';
    for (const run of span.text.match(/\s+|\S+/g) ?? []) {
      if (/^\s/.test(run)) {
        out += this.place();
        this.space += run.replaceAll('\t', TAB);
      } else {
        for (const part of breakable(run)) {
          if (part.apart && !JOINS.test(part.text) && !this.joining()) out += this.place();
          this.word.push({ ...span, text: part.text });
        }
      }
    }
    return out;
  }

  /** Ends the line of text. @returns the rest of it */
  endLine(): string {
    const rest = this.place();
    // whoever wrote in between has ended the line
    const ended = !this.fresh && this.column === 0;
    const out = ended ? '' : `${rest}${this.fresh ? this.first.trimEnd() : ''}\n`;
    this.column = 0;
    this.space = '';
    this.fresh = true;
    return out;
  }

  private joining(): boolean {
    return this.word.at(-1)?.text.endsWith('\u200d') ?? false;
  }

  /** Writes the word that is complete now, on this line or the next. */
  private place(): string {
    if (this.word.length === 0) return '';
    const wide = this.word.reduce((sum, { text }) => sum + displayWidth(text), 0);
    const shown = this.word.map(({ text, style }) => style?.(text) ?? text).join('');
    const space = this.space;
    this.word = [];
    this.space = '';
    if (this.column === 0) {
      const before = (this.fresh ? this.first : this.hang) + (this.fresh ? space : '');
      this.fresh = false;
      this.column = displayWidth(before) + wide;
      return before + shown;
    }
    if (this.column + space.length + wide <= this.width()) {
      this.column += space.length + wide;
      return space + shown;
    }
    this.column = displayWidth(this.hang) + wide;
    return `\n${this.hang}${shown}`;
  }
}

/** Wraps a whole text at words; commands in backquotes are not broken. @param hang stands before each line after the first */
export function wrap(text: string, width: number, hang = ''): string {
  const flow = new Flow(() => width);
  let out = '';
  for (const [i, line] of text.split('\n').entries()) {
    flow.open(i === 0 ? '' : hang, hang);
    for (const part of line.split(/(`[^`]+`)/)) out += flow.add({ text: part, whole: part.startsWith('`') });
    out += flow.endLine();
  }
  return out.slice(0, -1);
}

/** Wide characters stand for themselves: a line may end before and after each. */
function breakable(run: string): { text: string; apart: boolean }[] {
  if (/^[\x20-\x7e]*$/.test(run)) return [{ text: run, apart: false }];
  const parts: { text: string; apart: boolean }[] = [];
  let wideBefore = false;
  for (const text of graphemes(run)) {
    const wide = clusterWidth(text) === 2;
    const last = parts.at(-1);
    if (last && !wide && !wideBefore) last.text += text;
    else parts.push({ text, apart: wide || wideBefore });
    wideBefore = wide;
  }
  return parts;
}

/** Turns a text that arrives in pieces into what is written; takes text that is safe for a terminal. */
export interface Prose {
  /** @returns what can be shown now */
  push(text: string): string;
  /** The text is over. @returns the rest of it */
  end(): string;
  /** Something else was written since the last piece, and the next one stands on a line of its own. */
  interrupted(): void;
}

import { Flow, type Prose, type Span } from './flow.js';
import type { Paint } from './io.js';
import { inline } from './markdown-inline.js';
import { isTableLine, renderTable } from './markdown-table.js';
import { displayWidth } from './text.js';

/** Code is set off by this, and otherwise left as it is. */
const CODE_INDENT = '  ';
/** Rows that a table is held back for until its columns are laid out. */
const TABLE_ROWS = 100;
/** Characters before a text after which no further quote or item is looked for. */
const DEEPEST = 200;
/** Could still become the mark of a heading, an item, a fence. */
const UNDECIDED = /^(?:`{1,2}|~{1,2}|#{1,6}|\d{1,9}[.)]?|[-+*>])$/;
const QUOTE = /^ {0,3}> ?/;

/** A fenced block of code that is open. */
interface Fence {
  /** What ends it: this or more of the same. */
  mark: string;
  /** White space that its own lines have before them as the fence has. */
  indent: number;
  quotes: number;
  prefix: string;
}

/** A line whose kind is known. */
interface Line {
  first: string;
  hang: string;
  /** What is left to be styled. */
  text: string;
  style?: (part: string) => string;
  kind: 'text' | 'code' | 'fence' | 'rule' | 'table';
  fence?: Fence & { language: string };
}

/**
 * Renders Markdown for a terminal while it arrives: what has been given out is never changed. Words appear as they are
 * complete; only what cannot be told yet is held back: the mark at the beginning of a line, an open `**`, a table.
 */
export class Markdown implements Prose {
  private readonly flow: Flow;
  /** Of the present line, what has not been laid out. */
  private rest = '';
  /** Of the present line, what has. */
  private done = '';
  private line: Line | undefined;
  private fence: Fence | undefined;
  private table: string[] = [];
  /** Columns at which the text of the list item begins that is open. */
  private item = 0;
  private inList = false;

  constructor(
    private readonly paint: Paint,
    private readonly width: () => number,
  ) {
    this.flow = new Flow(width);
  }

  push(text: string): string {
    let out = '';
    for (const [i, part] of text.split('\n').entries()) {
      if (i > 0) out += this.endLine();
      this.rest += part;
      if (part !== '') out += this.more();
    }
    return out;
  }

  end(): string {
    const last = this.rest !== '' || this.line ? this.endLine() : '';
    return last + this.flushTable();
  }

  interrupted(): void {
    this.flow.interrupted();
  }

  private more(): string {
    let out = '';
    if (!this.line) {
      const line = this.begin(this.rest, false);
      if (!line || line.kind === 'table' || line.kind === 'fence' || line.kind === 'rule') return '';
      out = this.flushTable() + this.open(line);
    }
    return out + this.continue(false);
  }

  private endLine(): string {
    const blank = !this.line && this.rest.trim() === '' && !this.fence;
    const line = this.line ?? this.begin(this.rest, true);
    let out = '';
    if (line?.kind === 'table') {
      this.table.push(this.rest);
      if (this.table.length >= TABLE_ROWS) out += this.flushTable();
    } else {
      if (!this.line) out += this.flushTable();
      out += blank || !line ? '\n' : this.finish(line);
    }
    this.line = undefined;
    this.rest = '';
    this.done = '';
    return out;
  }

  /** The end of a line that is no row of a table. */
  private finish(line: Line): string {
    switch (line.kind) {
      case 'fence':
        return this.turnFence(line);
      case 'rule':
        return `${line.first}${this.paint('dim', '─'.repeat(Math.min(60, this.width() - displayWidth(line.first))))}\n`;
      case 'code':
      case 'text':
      case 'table': {
        const opened = this.line ? '' : this.open(line);
        const text = opened + this.continue(true);
        return line.kind === 'code' ? `${text}\n` : text + this.flow.endLine();
      }
    }
  }

  private turnFence({ fence }: Line): string {
    this.fence = fence;
    if (!fence?.language) return '';
    return `${fence.prefix}${this.paint('dim', `${CODE_INDENT}${fence.language}`)}\n`;
  }

  private open(line: Line): string {
    this.line = line;
    this.rest = line.text;
    if (line.kind === 'code') return line.first;
    this.flow.open(line.first, line.hang);
    return '';
  }

  private continue(final: boolean): string {
    if (!this.line) return '';
    if (this.line.kind === 'code') {
      const out = this.rest;
      this.rest = '';
      return out;
    }
    const { spans, done, rest } = inline(this.rest, final, this.paint, this.done);
    this.done = (this.done + done).slice(-1);
    this.rest = rest;
    return spans.map((span) => this.flow.add(this.styled(span))).join('');
  }

  private styled(span: Span): Span {
    const outer = this.line?.style;
    if (!outer) return span;
    return { ...span, style: (part) => outer(span.style?.(part) ?? part) };
  }

  private flushTable(): string {
    if (this.table.length === 0) return '';
    const lines = renderTable(this.table, this.width(), this.paint);
    this.table = [];
    return `${lines.join('\n')}\n`;
  }

  /** What kind of line begins like this; undefined while that cannot be told. */
  private begin(text: string, whole: boolean): Line | undefined {
    if (this.fence) return this.codeLine(this.fence, text, whole);
    if (whole && text.trim() === '') return { kind: 'text', first: '', hang: '', text: '' };
    return this.beginAfter('', '', text, whole, 0);
  }

  private codeLine(fence: Fence, text: string, whole: boolean): Line | undefined {
    let body = text;
    for (let i = 0; i < fence.quotes; i++) {
      if (!QUOTE.test(body)) {
        if (!whole && /^ {0,3}$/.test(body)) return undefined;
        this.fence = undefined;
        return this.begin(text, whole);
      }
      body = body.replace(QUOTE, '');
    }
    const [, mark = '', tail = ''] = /^\s*([`~]*)(.*)$/s.exec(body) ?? [];
    const ends = tail.trim() === '' && mark.startsWith(fence.mark) && new Set(mark).size === 1;
    if (whole && ends) return { kind: 'fence', first: '', hang: '', text: '' };
    if (!whole && tail.trim() === '' && `${fence.mark}`.startsWith(mark.slice(0, fence.mark.length))) return undefined;
    const own = /^[ \t]*/.exec(body)?.[0].slice(0, fence.indent) ?? '';
    const first = fence.prefix + (body === '' ? '' : CODE_INDENT);
    return { kind: 'code', first, hang: '', text: body.slice(own.length) };
  }

  /** @param first what stands before `text`, for marks that have been read */
  private beginAfter(first: string, hang: string, text: string, whole: boolean, quotes: number): Line | undefined {
    const [, indent = '', body = ''] = /^([ \t]*)(.*)$/s.exec(text) ?? [];
    if (!whole && (body === '' || UNDECIDED.test(body))) return undefined;
    const columns = indent.replaceAll('\t', '    ').length;
    if (first === '' && columns === 0 && body !== '' && !isItem(body)) this.inList = false;
    const deep = columns >= (this.inList ? this.item + 4 : 4);
    if (deep && first === '' && !isItem(body)) {
      this.inList = this.inList && columns > 0;
      return whole || body !== '' ? { kind: 'code', first: CODE_INDENT, hang: '', text } : undefined;
    }
    const space = ' '.repeat(Math.min(columns, Math.floor(this.width() / 3)));
    const plain: Line = { kind: 'text', first: first + space, hang: hang + space, text: body };
    return this.marked(plain, body, whole, columns, quotes);
  }

  private marked(plain: Line, body: string, whole: boolean, columns: number, quotes: number): Line | undefined {
    const { first, hang } = plain;
    if (first.length > DEEPEST) return plain;
    if (/^(?:`{3,}[^`]*|~{3,}.*)$/.test(body)) return whole ? this.fenceLine(plain, body, columns, quotes) : undefined;
    if (/^([-*_])[ \t]*(?:\1[ \t]*){2,}$/.test(body)) return whole ? { ...plain, kind: 'rule' } : undefined;
    if (!whole && /^([-*_])[ \t]*(?:\1[ \t]*)*$/.test(body)) return undefined;
    if (isTableLine(body) && quotes === 0) return whole ? { ...plain, kind: 'table' } : undefined;
    const heading = /^(#{1,6})[ \t]+/.exec(body);
    if (heading) {
      if (!whole && heading[0] === body) return undefined;
      const style = (part: string) => this.paint('bold', heading[1] === '#' ? this.paint('underline', part) : part);
      return { ...plain, text: body.slice(heading[0].length), style };
    }
    if (body.startsWith('>')) {
      const bar = this.paint('dim', '│ ');
      return this.beginAfter(first + bar, hang + bar, body.replace(QUOTE, ''), whole, quotes + 1);
    }
    const item = isItem(body);
    if (!item) return plain;
    const [all, sign] = item;
    const shown = /\d/.test(sign) ? sign : '•';
    this.inList = true;
    this.item = columns + all.length;
    const after = this.beginAfter(
      `${first}${shown} `,
      `${hang}${' '.repeat(shown.length + 1)}`,
      body.slice(all.length),
      whole,
      quotes,
    );
    return after;
  }

  private fenceLine(plain: Line, body: string, columns: number, quotes: number): Line {
    const mark = /^(?:`+|~+)/.exec(body)?.[0] ?? '';
    const language = body.slice(mark.length).trim();
    const fence = { mark, indent: columns, quotes, prefix: plain.hang, language };
    return { ...plain, kind: 'fence', fence };
  }
}

function isItem(body: string): [string, string] | undefined {
  const found = /^([-+*]|\d{1,9}[.)])[ \t]+/.exec(body);
  return found ? [found[0], found[1] ?? ''] : undefined;
}

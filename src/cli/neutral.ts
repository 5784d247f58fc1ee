/*
 * Text of a model, a tool or a file is not trusted: written to a terminal as it is, it could move the cursor, rewrite
 * what a person has read, set the clipboard or answer queries. Colours are dropped; every other control is made visible.
 */

const ESC = '\u001b';
const SGR = new RegExp(`${ESC}\\[[0-9;:]*m`, 'g');
/** The beginning of a colour sequence whose end has not arrived. */
const OPEN_SGR = new RegExp(`${ESC}(?:\\[[0-9;:]{0,30})?$`);
/** Carriage return, vertical tab, form feed, next line, line and paragraph separator. */
const LINE_ENDS = /\r\n|\r|\v|\f|[\x85\u2028\u2029]/g;
/** Control characters (C0, DEL, C1) but tab and line feed. */
const CONTROLS = /[^\P{Cc}\t\n]/gu;
/** Marks that reorder or hide what surrounds them. */
const INVISIBLE =
  /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|\u{e0001}|[\u{e0020}-\u{e007f}]/gu;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Makes untrusted text safe for a terminal. Tabs and line ends stay; a lone carriage return is a line end. */
export function neutralise(text: string): string {
  return text
    .replace(SGR, '')
    .replace(LINE_ENDS, '\n')
    .replace(CONTROLS, visible)
    .replace(INVISIBLE, (mark) => `<U+${mark.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}>`)
    .replace(LONE_SURROGATE, '\ufffd');
}

/** As {@link neutralise}, on one line. */
export function neutralLine(text: string): string {
  return neutralise(text).replace(/\s+/g, ' ').trim();
}

/** For text that arrives in pieces: a sequence or line end cut between two pieces is still recognised. */
export class Neutraliser {
  private held = '';

  push(piece: string): string {
    const text = this.held + piece;
    const end = endOfWhole(text);
    this.held = text.slice(end);
    return neutralise(text.slice(0, end));
  }

  /** What was held back; nothing more will come. */
  flush(): string {
    const rest = neutralise(this.held);
    this.held = '';
    return rest;
  }
}

function endOfWhole(text: string): number {
  const open = OPEN_SGR.exec(text);
  if (open) return open.index;
  const last = text.charCodeAt(text.length - 1);
  const cut = last === 0x0d || (last >= 0xd800 && last <= 0xdbff);
  return cut ? text.length - 1 : text.length;
}

function visible(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}

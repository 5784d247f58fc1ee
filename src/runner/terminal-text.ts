/** What a terminal would do with a stream: print units, or erase the line. */
interface Sink {
  /** A UTF-16 unit; also the control characters that move: tab, newline, carriage return, backspace. */
  print(unit: number): void;
  /** 0: from the cursor to the end of the line; 1: up to the cursor; 2: the whole line. */
  erase(mode: number): void;
}

type State = 'text' | 'escape' | 'escape-more' | 'control' | 'string' | 'string-escape';

const ESC = 0x1b;
const BEL = 0x07;
const TAB = 0x09;
const BACKSPACE = 0x08;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const REPLACEMENT = 0xfffd;
/** A title or hyperlink is shorter than this; what goes on is not one, and its text is not swallowed any longer. */
const MAX_STRING = 4096;

/** Takes escape sequences out of a stream, wherever its pieces are cut. NUL and other C1 controls become U+FFFD. */
class EscapeParser {
  private state: State = 'text';
  private parameters = '';
  private length = 0;

  feed(text: string, sink: Sink): void {
    for (let i = 0; i < text.length; i++) this.unit(text.charCodeAt(i), sink);
  }

  private unit(unit: number, sink: Sink): void {
    switch (this.state) {
      case 'text':
        this.text(unit, sink);
        break;
      case 'escape':
        this.escape(unit, sink);
        break;
      case 'escape-more':
        if (unit < 0x20 || unit > 0x2f) this.state = 'text';
        break;
      case 'control':
        this.control(unit, sink);
        break;
      case 'string':
        this.string(unit, sink);
        break;
      case 'string-escape':
        this.state = 'text';
        if (unit !== 0x5c) this.unit(unit, sink);
        break;
    }
  }

  private text(unit: number, sink: Sink): void {
    if (unit === ESC) this.state = 'escape';
    else if (unit === TAB || unit === NEWLINE || unit === RETURN || unit === BACKSPACE) sink.print(unit);
    else if (unit === 0 || (unit >= 0x80 && unit < 0xa0)) sink.print(REPLACEMENT);
    else if (unit >= 0x20 && unit !== 0x7f) sink.print(unit);
  }

  private escape(unit: number, sink: Sink): void {
    this.parameters = '';
    this.length = 0;
    if (unit === 0x5b) this.state = 'control';
    else if (unit === 0x5d || unit === 0x50 || unit === 0x58 || unit === 0x5e || unit === 0x5f) this.state = 'string';
    else if (unit >= 0x20 && unit <= 0x2f) this.state = 'escape-more';
    else if (unit >= 0x30 && unit <= 0x7e) this.state = 'text';
    else this.giveUp(unit, sink);
  }

  private control(unit: number, sink: Sink): void {
    if (unit >= 0x20 && unit <= 0x3f && this.parameters.length < 64) {
      this.parameters += String.fromCharCode(unit);
    } else if (unit >= 0x40 && unit <= 0x7e) {
      if (unit === 0x4b && /^[012]?$/.test(this.parameters)) sink.erase(Number(this.parameters));
      this.state = 'text';
    } else {
      this.giveUp(unit, sink);
    }
  }

  private string(unit: number, sink: Sink): void {
    if (unit === ESC) this.state = 'string-escape';
    else if (unit === BEL) this.state = 'text';
    else if (unit === NEWLINE || ++this.length > MAX_STRING) this.giveUp(unit, sink);
  }

  private giveUp(unit: number, sink: Sink): void {
    this.state = 'text';
    this.text(unit, sink);
  }
}

/**
 * Decodes output piece by piece for showing it live: UTF-8 with U+FFFD for what is not, no escape sequences. Carriage
 * returns stay, since what is shown already cannot be overwritten. The result does not depend on where pieces are cut.
 */
export class LiveText {
  private readonly decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  private readonly parser = new EscapeParser();

  /** @param bytes nothing at the end of the output */
  push(bytes?: Uint8Array): string {
    const units: number[] = [];
    const sink: Sink = {
      print: (unit) => {
        if (unit !== BACKSPACE) units.push(unit);
      },
      erase: () => {},
    };
    this.parser.feed(this.decoder.decode(bytes, { stream: bytes !== undefined }), sink);
    return fromUnits(units);
  }
}

/**
 * Output as it would stand on a terminal: UTF-8 with U+FFFD for what is not, no escape sequences, lines overwritten
 * after a carriage return as they were. Takes time in proportion to the input.
 */
export function terminalText(bytes: Uint8Array): string {
  const screen = new Line();
  new EscapeParser().feed(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), screen);
  return screen.finish();
}

/** The current line, in which units are overwritten in place, and the lines before it. */
class Line implements Sink {
  private readonly done: string[] = [];
  private units: number[] = [];
  private column = 0;

  print(unit: number): void {
    if (unit === NEWLINE) this.newLine();
    else if (unit === RETURN) this.column = 0;
    else if (unit === BACKSPACE) this.column = Math.max(0, this.column - 1);
    else this.put(unit);
  }

  erase(mode: number): void {
    if (mode === 0) this.units.length = Math.min(this.units.length, this.column);
    else if (mode === 2) this.units = [];
    else this.units.fill(0x20, 0, this.column);
  }

  private put(unit: number): void {
    while (this.units.length < this.column) this.units.push(0x20);
    this.units[this.column++] = unit;
  }

  finish(): string {
    this.done.push(this.text());
    return this.done.join('\n');
  }

  private newLine(): void {
    this.done.push(this.text());
    this.units = [];
    this.column = 0;
  }

  /** Overwriting may have left half a character. */
  private text(): string {
    return fromUnits(this.units).replace(/\p{Cs}/gu, '\ufffd');
  }
}

function fromUnits(units: number[]): string {
  let text = '';
  for (let i = 0; i < units.length; i += 8192) text += String.fromCharCode(...units.slice(i, i + 8192));
  return text;
}

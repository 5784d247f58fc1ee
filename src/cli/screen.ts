import type { Writable } from 'node:stream';

/** Stands below the output, such as a question being answered; taken away while something is written above it. */
export interface Footer {
  hide(): void;
  show(): void;
}

interface Piece {
  owner: string;
  text: string;
  prefix: string;
  style: (text: string) => string;
}

/**
 * Writes lines, and texts that arrive in pieces, so that two of them never share a line: when another one comes in
 * between, the interrupted text goes on in a line of its own. With a footer only whole lines are written.
 */
export class Screen {
  private footer: Footer | undefined;
  private owner: string | undefined;
  private atLineStart = true;
  private held: Piece | undefined;

  constructor(private readonly out: Writable) {}

  setFooter(footer: Footer | undefined): void {
    if (footer && !this.atLineStart) this.write(this.freshLine());
    this.footer = footer;
    if (!footer) this.release();
  }

  line(text = ''): void {
    this.release();
    this.write(`${this.freshLine()}${text}\n`);
  }

  /** @param style applied to each piece of a line; `prefix` stands at the start of each of its lines */
  piece(owner: string, text: string, prefix = '', style: (text: string) => string = (part) => part): void {
    if (text === '') return;
    if (this.held && this.held.owner !== owner) this.release();
    const all = (this.held?.text ?? '') + text;
    this.held = undefined;
    const whole = this.footer ? all.lastIndexOf('\n') + 1 : all.length;
    if (whole < all.length) this.held = { owner, text: all.slice(whole), prefix, style };
    if (whole > 0) this.put({ owner, text: all.slice(0, whole), prefix, style });
  }

  /** Nothing more comes of it. */
  endPiece(owner: string): void {
    if (this.held?.owner === owner) this.release();
    else if (this.owner === owner) this.write(this.freshLine());
  }

  private release(): void {
    const held = this.held;
    this.held = undefined;
    if (held) this.put(this.footer ? { ...held, text: `${held.text}\n` } : held);
  }

  private put({ owner, text, prefix, style }: Piece): void {
    const before = this.owner === owner ? '' : this.freshLine();
    let shown = before;
    let lineStart = this.atLineStart;
    for (const [i, part] of text.split('\n').entries()) {
      if (i > 0) {
        shown += '\n';
        lineStart = true;
      }
      if (part === '') continue;
      shown += style(lineStart ? prefix + part : part);
      lineStart = false;
    }
    this.owner = owner;
    this.atLineStart = lineStart;
    this.write(shown);
  }

  private freshLine(): string {
    const end = this.atLineStart ? '' : '\n';
    this.atLineStart = true;
    this.owner = undefined;
    return end;
  }

  private write(text: string): void {
    if (text === '') return;
    this.footer?.hide();
    this.out.write(text);
    this.footer?.show();
  }
}

import type { Writable } from 'node:stream';
import { columnAfter } from './text.js';

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
 * between, the interrupted text goes on in a line of its own. With a footer only whole lines are written. A status line
 * stands below everything while nothing is written.
 */
export class Screen {
  private footer: Footer | undefined;
  private owner: string | undefined;
  /** What has been written of the present line. */
  private current = '';
  private held: Piece | undefined;
  private status: { below: boolean; column: number } | undefined;
  private wroteAt = 0;

  constructor(private readonly out: Writable & { columns?: number }) {}

  /** ms since something was written, status lines not counted. */
  get quietMs(): number {
    return Date.now() - this.wroteAt;
  }

  /** Whether the text of this owner is in the middle of a line. */
  isMidLine(owner: string): boolean {
    return this.held?.owner === owner || (this.owner === owner && this.current !== '');
  }

  /** Shows one line below what is there, or takes it away; it must fit the screen. For terminals only. */
  setStatus(text: string | undefined): void {
    if (text === undefined || this.footer) {
      this.clearStatus();
    } else if (this.status) {
      this.out.write(`\r${text}\u001b[K`);
    } else {
      const [width, columns] = [columnAfter(this.current), this.out.columns ?? 80];
      const column = width % columns;
      // behind a full line the cursor cannot be put back
      if (width > 0 && column === 0) return;
      this.status = { below: width > 0, column };
      this.out.write(`${width > 0 ? '\n' : ''}${text}\u001b[K`);
    }
  }

  setFooter(footer: Footer | undefined): void {
    this.clearStatus();
    if (footer && this.current !== '') this.write(this.freshLine());
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
    let shown = this.owner === owner ? '' : this.freshLine();
    for (const [i, part] of text.split('\n').entries()) {
      if (i > 0) {
        shown += '\n';
        this.current = '';
      }
      if (part === '') continue;
      const whole = this.current === '' ? prefix + part : part;
      shown += style(whole);
      this.current += whole;
    }
    this.owner = owner;
    this.write(shown);
  }

  private freshLine(): string {
    const end = this.current === '' ? '' : '\n';
    this.current = '';
    this.owner = undefined;
    return end;
  }

  private write(text: string): void {
    if (text === '') return;
    this.clearStatus();
    this.wroteAt = Date.now();
    this.footer?.hide();
    this.out.write(text);
    this.footer?.show();
  }

  private clearStatus(): void {
    if (!this.status) return;
    const { below, column } = this.status;
    this.status = undefined;
    this.out.write(`\r\u001b[K${below ? `\u001b[A\u001b[${column + 1}G` : ''}`);
  }
}

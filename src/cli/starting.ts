import type { ClientOptions } from '../client.js';
import { type Io, painter, printNote, wantsColour } from './io.js';
import { fitTo } from './text.js';

const TICK_MS = 500;
const MEGABYTE = 1_000_000;

/**
 * Says what takes long before a command can begin: the start of the service, the fetching of the server. On a terminal
 * it is one line with the time, which goes away; elsewhere it is a note on stderr.
 */
export class Starting {
  private line: { what: string; since: number; more: string } | undefined;
  private timer: NodeJS.Timeout | undefined;
  private over = false;
  private readonly live: boolean;

  constructor(private readonly io: Io) {
    this.live = io.stderr.isTTY === true && io.env.TERM !== 'dumb' && !io.env.CI;
  }

  /** What a client reports to. */
  get reports(): Required<Pick<ClientOptions, 'log' | 'progress'>> {
    return {
      log: (text) => this.say(text),
      progress: (bytes, total) => {
        const megabytes = (bytes / MEGABYTE).toFixed(1);
        if (this.line)
          this.line.more = total ? `${megabytes} of ${(total / MEGABYTE).toFixed(1)} MB` : `${megabytes} MB`;
      },
    };
  }

  /** The line is gone when the work is done, and nothing is said after that. */
  async until<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } finally {
      this.over = true;
      this.clear();
    }
  }

  private say(text: string): void {
    if (this.over) return;
    if (!this.live) {
      printNote(this.io, text);
      return;
    }
    this.line = { what: text.replace(/\.$/, ''), since: Date.now(), more: '' };
    this.timer ??= setInterval(() => this.show(), TICK_MS);
    this.show();
  }

  private show(): void {
    if (!this.line) return;
    const { what, since, more } = this.line;
    const text = [what, more, `${Math.floor((Date.now() - since) / 1000)} s`].filter((part) => part !== '').join(' · ');
    const shown = fitTo(text, (this.io.stderr.columns ?? 80) - 1);
    this.io.stderr.write(`\r${painter(wantsColour(this.io.env, true))('dim', shown)}\u001b[K`);
  }

  private clear(): void {
    clearInterval(this.timer);
    if (this.line && this.live) this.io.stderr.write('\r\u001b[K');
    this.line = undefined;
    this.timer = undefined;
  }
}

import { randomUUID } from 'node:crypto';
import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import type { Answer, Ask } from '../domain/asks.js';
import { choicesOf, readTyped } from './asking.js';
import { wrap } from './flow.js';
import { type Io, painter, textWidth } from './io.js';
import type { Footer, Screen } from './screen.js';

/** Lines that come within this time of each other were pasted together, and are one answer. */
const PASTE_MS = 30;

/** Why an answer was not taken; `again`: the same one can be sent later. */
export interface Refusal {
  problem: string;
  again?: boolean;
}

export interface PromptHandlers {
  /** @returns undefined when the answer was taken */
  submit(answer: Answer): Promise<Refusal | undefined>;
  interrupted(): void;
  /** The input has ended. */
  ended(): void;
}

/** Asks the person at the terminal, one question at a time, below the output that goes on. */
export class Prompter implements Footer {
  private readonly asks: Ask[] = [];
  private choice: { prompt: string; take: (typed: string) => void } | undefined;
  private lines: Interface | undefined;
  private typed: string[] = [];
  private pause: NodeJS.Timeout | undefined;
  private shown = false;
  private sending = false;
  /** Given, but not taken yet. */
  private kept: Answer | undefined;
  private closed = false;

  constructor(
    private readonly io: Io,
    private readonly screen: Screen,
    private readonly handlers: PromptHandlers,
  ) {}

  add(ask: Ask): void {
    this.asks.push(ask);
    this.update();
  }

  /** What was typed and has not been taken. */
  get unsent(): Answer | undefined {
    return this.kept;
  }

  /** It has been answered elsewhere, or here. */
  withdraw(ask: string): void {
    const at = this.asks.findIndex((one) => one.id === ask);
    if (at < 0) return;
    this.asks.splice(at, 1);
    if (at === 0) this.typed = [];
    if (this.kept?.ask === ask) this.kept = undefined;
    this.update();
  }

  /** A question about this command itself; it goes before any ask. */
  choose(prompt: string, take: (typed: string) => void): void {
    this.choice = { prompt, take };
    this.update();
  }

  close(): void {
    this.closed = true;
    this.asks.length = 0;
    this.choice = undefined;
    this.update();
  }

  hide(): void {
    if (!this.lines || !this.shown) return;
    const { rows } = this.lines.getCursorPos();
    moveCursor(this.io.stdout, 0, -rows);
    cursorTo(this.io.stdout, 0);
    clearScreenDown(this.io.stdout);
  }

  show(): void {
    if (!this.lines) return;
    this.lines.prompt(true);
    this.shown = true;
  }

  private update(): void {
    const [ask] = this.asks;
    const prompt = this.choice?.prompt ?? (ask && !this.sending ? `${choicesOf(ask)} > ` : undefined);
    if (prompt === undefined || this.closed) {
      this.stop();
      return;
    }
    const text = painter(this.io.colour)('bold', prompt);
    if (!this.lines) {
      this.start(text);
    } else if (this.lines.getPrompt() !== text) {
      this.hide();
      this.lines.setPrompt(text);
      this.show();
    }
  }

  private start(prompt: string): void {
    const lines = createInterface({
      input: this.io.stdin,
      output: this.io.stdout,
      terminal: true,
      prompt,
      historySize: 0,
    });
    lines.on('line', (line) => this.typedLine(line));
    lines.on('SIGINT', () => this.handlers.interrupted());
    lines.on('close', () => {
      if (this.lines === lines) this.handlers.ended();
    });
    this.screen.setFooter(this);
    this.lines = lines;
    lines.prompt();
    this.shown = true;
  }

  private stop(): void {
    const lines = this.lines;
    if (!lines) return;
    this.hide();
    this.lines = undefined;
    clearTimeout(this.pause);
    this.typed = [];
    lines.close();
    this.screen.setFooter(undefined);
  }

  private typedLine(line: string): void {
    // what was typed stands above the cursor now, and stays
    this.shown = false;
    this.typed.push(line);
    clearTimeout(this.pause);
    this.pause = setTimeout(() => {
      const text = this.typed.join('\n');
      this.typed = [];
      void this.take(text);
    }, PASTE_MS);
  }

  private async take(text: string): Promise<void> {
    if (this.choice) {
      const { take } = this.choice;
      this.choice = undefined;
      this.update();
      return take(text);
    }
    const [ask] = this.asks;
    if (!ask) return;
    const kept = this.kept?.ask === ask.id ? this.kept : undefined;
    const answer = kept && text.trim() === '' ? kept : readTyped(ask, text);
    const refusal =
      typeof answer === 'string' ? { problem: answer } : await this.send({ clientId: randomUUID(), ...answer });
    if (!refusal) this.withdraw(ask.id);
    else if (!this.closed) {
      const problem = wrap(refusal.problem, textWidth(this.io), '  ');
      this.screen.line(painter(this.io.colour)('yellow', problem));
    }
    this.update();
  }

  private async send(answer: Answer): Promise<Refusal | undefined> {
    this.sending = true;
    this.kept = answer;
    this.update();
    try {
      const refusal = await this.handlers.submit(answer);
      if (!refusal?.again) this.kept = undefined;
      return refusal;
    } finally {
      this.sending = false;
    }
  }
}

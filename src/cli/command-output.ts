import type { Paint } from './io.js';
import type { Screen } from './screen.js';
import { count } from './text.js';

/** Lines of a command's output shown as they arrive; after that only its end. */
const LIVE_LINES = 60;
const TAIL_LINES = 8;
const PREFIX = '  │ ';
/** A line longer than this is shown cut: a terminal page full of one line helps nobody. */
const LINE_LENGTH = 2000;

interface Shown {
  lines: number;
  lineLength: number;
  cut: boolean;
}

/** Shows the output of commands, indented and bounded. Takes text that is safe for a terminal. */
export class CommandOutput {
  private readonly shown = new Map<string, Shown>();

  constructor(
    private readonly screen: Screen,
    private readonly paint: Paint,
  ) {}

  piece(stream: string, text: string): void {
    const state = this.shown.get(stream) ?? { lines: 0, lineLength: 0, cut: false };
    this.shown.set(stream, state);
    let visible = '';
    for (const [i, part] of text.split('\n').entries()) {
      if (i > 0) {
        state.lines++;
        state.lineLength = 0;
        if (state.lines < LIVE_LINES) visible += '\n';
      }
      if (state.lines >= LIVE_LINES) {
        if (part !== '') state.cut = true;
        continue;
      }
      const room = Math.max(0, LINE_LENGTH - state.lineLength);
      state.lineLength += part.length;
      if (part.length > room) state.cut = true;
      visible += part.slice(0, room);
    }
    this.print(stream, visible);
  }

  /**
   * The command has ended; `text` is its bounded output as stored, `rest` what of it was not shown yet. Without `rest`
   * what was shown is not how the stored text begins.
   */
  finish(stream: string, text: string, rest?: string): void {
    const state = this.shown.get(stream);
    if (state && rest !== undefined) this.piece(stream, rest);
    this.shown.delete(stream);
    if (!state) {
      this.whole(stream, text.trimEnd());
      return;
    }
    this.screen.endPiece(stream);
    if (!state.cut && rest !== undefined) return;
    const lines = text.trimEnd().split('\n');
    this.print(stream, `… more output; it ends with:\n${lines.slice(-TAIL_LINES).map(short).join('\n')}\n`);
    this.screen.endPiece(stream);
  }

  private whole(stream: string, text: string): void {
    if (text === '') return;
    const lines = text.split('\n');
    const hidden = lines.length - LIVE_LINES;
    const some = [...lines.slice(0, LIVE_LINES - TAIL_LINES), `… ${count(hidden + 1, 'line')} not shown`];
    const visible = hidden <= 0 ? lines : [...some, ...lines.slice(-TAIL_LINES + 1)];
    this.print(stream, `${visible.map(short).join('\n')}\n`);
    this.screen.endPiece(stream);
  }

  private print(stream: string, text: string): void {
    this.screen.piece(stream, text, PREFIX, (part) => this.paint('dim', part));
  }
}

function short(line: string): string {
  return line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH)}…` : line;
}

import type { Paint } from './io.js';
import type { Screen } from './screen.js';
import { count } from './text.js';

/** Lines of a command's output shown as they arrive; after that only its end. */
const LIVE_LINES = 60;
const TAIL_LINES = 8;
const PREFIX = '  │ ';
/** A line longer than this is shown cut: a terminal page full of one line helps nobody. */
const LINE_LENGTH = 2000;
/** Enough of what was shown last to find the place again in the stored output. */
const PLACE_LENGTH = 400;

interface Shown {
  lines: number;
  lineLength: number;
  cut: boolean;
  /** The end of what has arrived, shown or not. */
  place: string;
}

/** Shows the output of commands, indented and bounded. Takes text that is safe for a terminal. */
export class CommandOutput {
  private readonly shown = new Map<string, Shown>();
  private readonly maxLines: number;

  constructor(
    private readonly screen: Screen,
    private readonly paint: Paint,
    /** Leave nothing out. */
    full = false,
  ) {
    this.maxLines = full ? Number.POSITIVE_INFINITY : LIVE_LINES;
  }

  piece(stream: string, text: string): void {
    const state = this.shown.get(stream) ?? { lines: 0, lineLength: 0, cut: false, place: '' };
    this.shown.set(stream, state);
    state.place = (state.place + text).slice(-PLACE_LENGTH);
    let visible = '';
    for (const [i, part] of text.split('\n').entries()) {
      if (i > 0) {
        state.lines++;
        state.lineLength = 0;
        if (state.lines < this.maxLines) visible += '\n';
      }
      if (state.lines >= this.maxLines) {
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

  /** The command has ended; `output` is what was stored of its output, which may lack a middle part. */
  finish(stream: string, output: string): void {
    const state = this.shown.get(stream);
    const place = state?.place.trimEnd() ?? '';
    if (!state || place === '') {
      this.shown.delete(stream);
      this.whole(stream, output.trimEnd());
      return;
    }
    const at = output.lastIndexOf(place);
    if (at >= 0)
      this.piece(stream, without(state.place.slice(place.length), output.slice(at + place.length)).trimEnd());
    this.shown.delete(stream);
    this.screen.endPiece(stream);
    if ((at >= 0 && !state.cut) || output.trim() === '') return;
    const lines = output.trimEnd().split('\n');
    this.print(stream, `… more output; it ends with:\n${lines.slice(-TAIL_LINES).map(short).join('\n')}\n`);
    this.screen.endPiece(stream);
  }

  private whole(stream: string, text: string): void {
    if (text === '') return;
    const lines = text.split('\n');
    const hidden = lines.length - this.maxLines;
    const some = [...lines.slice(0, this.maxLines - TAIL_LINES), `… ${count(hidden + 1, 'line')} not shown`];
    const visible = hidden <= 0 ? lines : [...some, ...lines.slice(-TAIL_LINES + 1)];
    this.print(stream, `${visible.map(short).join('\n')}\n`);
    this.screen.endPiece(stream);
  }

  private print(stream: string, text: string): void {
    this.screen.piece(stream, text, PREFIX, (part) => this.paint('dim', part));
  }
}

/** A command's result for the model is a statement, then the output; a result without output is the statement alone. */
export function splitResult(text: string): { statement: string; output: string } {
  const [, statement, output] = /^([^\n]*(?:\n[^\n]*){0,3}?)\nOutput:\n([\s\S]*)$/.exec(text) ?? [];
  if (statement !== undefined && output !== undefined) return { statement, output };
  return text.split('\n').length > 4 ? { statement: '', output: text } : { statement: text, output: '' };
}

/** White space at the end of what was shown may be stored or not. */
function without(shown: string, rest: string): string {
  return rest.startsWith(shown) ? rest.slice(shown.length) : rest;
}

function short(line: string): string {
  return line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH)}…` : line;
}

import type { Partial, StoredEvent, TaskEvent } from '../domain/events.js';
import { callKey, splitCallKey, type TurnKey } from '../domain/ids.js';
import { isOutput, outputStream } from './streams.js';

/** What a tail yields. */
export type TailItem = { event: StoredEvent } | { partial: Partial };

/** What a viewer has shown of a stream. */
export interface ShownStream {
  stream: string;
  kind: Partial['kind'];
  text: string;
}

/** What a viewer has to do about an item. */
export type Shown =
  /** Show more of a stream. Never ends inside a character. */
  | { append: string; stream: string; kind: Partial['kind'] }
  /**
   * Show a stored event. When it is the final word on a stream, `stream` names it, `shown` counts the UTF-16 units
   * shown of it before, and `rest` is what its text has beyond them; no `rest` means that what was shown is not how
   * the text begins (the bounded output of a long command), so only the whole text can replace it.
   */
  | { final: StoredEvent; stream?: string; shown?: number; rest?: string }
  /** Take these back: they are not part of the task. `by` is the event that said so. */
  | { retracted: ShownStream[]; by?: StoredEvent };

interface Live extends ShownStream {
  turn: TurnKey;
  attempt: number;
  /** UTF-16 units handed out to be shown. */
  shown: number;
  final: boolean;
  /** A piece is missing, so later ones cannot be joined: only the final event helps. */
  torn: boolean;
}

/**
 * Makes one copy of each stream's text out of what a tail yields, whenever the tail began and however often items
 * are repeated. Pure: it does nothing but remember.
 * @example
 * const transcript = new Transcript();
 * for await (const item of journal.tail(task, 0, signal)) {
 *   for (const shown of transcript.apply(item)) if ('append' in shown) process.stdout.write(shown.append);
 * }
 */
export class Transcript {
  #seq: number;
  readonly #streams = new Map<string, Live>();
  /** Streams of calls that have ended; they are few, and not bound to a turn's end. */
  readonly #ended = new Set<string>();
  /** The newest void attempt of each turn; closed turns take no more. */
  readonly #void = new Map<TurnKey, number>();

  /** @param after the `seq` the tail starts after */
  constructor(after = 0) {
    this.#seq = after;
  }

  /** The last `seq` applied: where to take up the tail again after a lost connection. */
  get seq(): number {
    return this.#seq;
  }

  /** What is shown of a stream that is still arriving, or complete in a turn that is still open. */
  text(stream: string): string | undefined {
    return this.#streams.get(stream)?.text;
  }

  apply(item: TailItem): Shown[] {
    if ('partial' in item) return this.#addPiece(item.partial);
    const stored = item.event;
    if (stored.seq <= this.#seq) return [];
    this.#seq = stored.seq;
    return this.#addEvent(stored, stored.event);
  }

  #addPiece(piece: Partial): Shown[] {
    if (this.#isOver(piece)) return [];
    const shown: Shown[] = [];
    let live = this.#streams.get(piece.stream);
    if (live && live.attempt > piece.attempt) return [];
    if (live && live.attempt < piece.attempt) {
      shown.push({ retracted: [shownOf(live)] });
      live = undefined;
    }
    if (!live) {
      const { stream, kind, turn, attempt } = piece;
      live = { stream, kind, turn, attempt, text: '', shown: 0, final: false, torn: false };
      this.#streams.set(stream, live);
    }
    const append = join(live, piece);
    if (append !== '') shown.push({ append, stream: live.stream, kind: live.kind });
    return shown;
  }

  #isOver(piece: Partial): boolean {
    if (this.#ended.has(piece.stream) || this.#streams.get(piece.stream)?.final) return true;
    return !isOutput(piece.stream) && piece.attempt <= (this.#void.get(piece.turn) ?? 0);
  }

  #addEvent(stored: StoredEvent, event: TaskEvent): Shown[] {
    if (event.type === 'retract') return [this.#retract(stored, event.turn, event.attempt)];
    if (event.type !== 'say') return [{ final: stored }];
    switch (event.say) {
      case 'text':
      case 'reasoning':
        return [this.#finish(stored, event.turn, event.attempt, event.block, event.say, event.text)];
      case 'tool':
      case 'command':
        this.#end(event.call);
        return [{ final: stored }];
      case 'tool_result':
      case 'command_output': {
        const live = this.#streams.get(outputStream(event.call));
        this.#end(event.call);
        this.#end(outputStream(event.call));
        return [live ? { final: stored, ...compare(live, event.text) } : { final: stored }];
      }
      case 'api_req_finished':
        return [...this.#closeTurn(event.turn, stored), { final: stored }];
      default:
        return [{ final: stored }];
    }
  }

  #finish(
    stored: StoredEvent,
    turn: TurnKey,
    attempt: number,
    block: number,
    kind: 'text' | 'reasoning',
    text: string,
  ): Shown {
    const stream = callKey(turn, block);
    const live = this.#streams.get(stream);
    // a call may have a text to say: what has arrived of its arguments is none of it
    const own = live?.attempt === attempt && live.kind === kind ? live : undefined;
    const found = own ? compare(own, text) : { stream, shown: 0, rest: text };
    if (!this.#isClosed(turn)) {
      const shown = text.length;
      this.#streams.set(stream, { stream, kind, turn, attempt, text, shown, final: true, torn: false });
    }
    return { final: stored, ...found };
  }

  #retract(by: StoredEvent, turn: TurnKey, attempt: number): Shown {
    this.#void.set(turn, Math.max(attempt, this.#void.get(turn) ?? 0));
    const gone = this.#blocksOf(turn).filter((live) => live.attempt <= attempt);
    for (const live of gone) this.#streams.delete(live.stream);
    return { retracted: gone.map(shownOf), by };
  }

  /** What has not become final by now never will: the answer was cut there. */
  #closeTurn(turn: TurnKey, by: StoredEvent): Shown[] {
    this.#void.set(turn, Number.POSITIVE_INFINITY);
    const blocks = this.#blocksOf(turn);
    for (const live of blocks) this.#streams.delete(live.stream);
    const cut = blocks.filter((live) => !live.final && live.kind !== 'tool_input');
    return cut.length === 0 ? [] : [{ retracted: cut.map(shownOf), by }];
  }

  #isClosed(turn: TurnKey): boolean {
    return this.#void.get(turn) === Number.POSITIVE_INFINITY;
  }

  #end(stream: string): void {
    this.#streams.delete(stream);
    const { turn } = splitCallKey(stream);
    if (isOutput(stream) || !this.#isClosed(turn)) this.#ended.add(stream);
  }

  #blocksOf(turn: TurnKey): Live[] {
    return [...this.#streams.values()].filter((live) => live.turn === turn && !isOutput(live.stream));
  }
}

/** Adds what a piece has beyond the known text; returns what can be shown now. */
function join(live: Live, piece: Partial): string {
  if (piece.offset > live.text.length) live.torn = true;
  if (live.torn) return '';
  live.text += piece.text.slice(live.text.length - piece.offset);
  const end = endsInsideCharacter(live.text) ? live.text.length - 1 : live.text.length;
  const append = live.text.slice(live.shown, end);
  live.shown = Math.max(live.shown, end);
  return append;
}

function compare(live: Live, text: string): { stream: string; shown: number; rest?: string } {
  const { stream, shown } = live;
  if (!text.startsWith(live.text.slice(0, shown))) return { stream, shown };
  return { stream, shown, rest: text.slice(shown) };
}

function shownOf(live: Live): ShownStream {
  return { stream: live.stream, kind: live.kind, text: live.text.slice(0, live.shown) };
}

function endsInsideCharacter(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

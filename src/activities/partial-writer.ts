import type { Partial } from '../domain/events.js';
import type { Journal } from '../journal/journal.js';

/** Text is shown at most this often after the first piece; the original's cadence for a local host. */
const FLUSH_MS = 40;

/**
 * Shows what is arriving: the first piece of a stream at once, then one row per flush. Losing a partial loses nothing,
 * so a failed write is dropped.
 */
export class PartialWriter {
  private readonly waiting = new Map<string, Pick<Partial, 'kind' | 'offset' | 'text'>>();
  private readonly begun = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly journal: Journal,
    private readonly of: Pick<Partial, 'task' | 'turn' | 'attempt'>,
  ) {}

  add(stream: string, kind: Partial['kind'], offset: number, text: string): void {
    const piece = this.waiting.get(stream);
    if (piece) piece.text += text;
    else this.waiting.set(stream, { kind, offset, text });
    if (!this.begun.has(stream)) {
      this.begun.add(stream);
      this.flush();
    } else {
      this.timer ??= setTimeout(() => this.flush(), FLUSH_MS);
    }
  }

  /** The stream's final event comes next: its last piece needs no row. */
  async finish(stream: string): Promise<void> {
    this.waiting.delete(stream);
    await this.writing;
  }

  /** Writes what is left and waits for it. */
  async close(): Promise<void> {
    this.flush();
    await this.writing;
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.waiting.clear();
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const pieces = [...this.waiting];
    this.waiting.clear();
    this.writing = this.writing.then(async () => {
      for (const [stream, piece] of pieces) {
        await this.journal.addPartial({ ...this.of, stream, ...piece }).catch(() => undefined);
      }
    });
  }
}

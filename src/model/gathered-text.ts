/** Pieces that are joined into one: few enough that what is joined is still in the processor's cache. */
const JOINED = 64;

/**
 * A text that arrives in small pieces. Adding costs the same however long it has become; a string that is added to a
 * million times is a chain, which keeps every piece and is slow to read.
 */
export class GatheredText {
  /** UTF-16 units */
  length = 0;
  /** Joined already. */
  private done: string[] = [];
  private fresh: string[] = [];

  constructor(text = '') {
    this.add(text);
  }

  add(text: string): void {
    if (text === '') return;
    this.length += text.length;
    if (this.fresh.push(text) < JOINED) return;
    this.done.push(this.fresh.join(''));
    this.fresh = [];
  }

  toString(): string {
    if (this.fresh.length > 0) this.done.push(this.fresh.join(''));
    this.fresh = [];
    if (this.done.length > 1) this.done = [this.done.join('')];
    return this.done[0] ?? '';
  }
}

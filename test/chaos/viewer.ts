import { strictEqual } from 'node:assert';
import { type Shown, type TailItem, Transcript } from '../../src/journal/rebuild.js';

/** A viewer that shows what it is told to show, as the command line does. */
export class Viewer {
  private readonly transcript = new Transcript();
  /** Of each stream what stands on the screen. */
  private readonly screen = new Map<string, string>();
  /** Streams of the model's text that are final. */
  private readonly final = new Set<string>();

  /** The last event taken. */
  get seq(): number {
    return this.transcript.seq;
  }

  /** The model's texts on the screen, in order. */
  get texts(): string[] {
    return [...this.final].map((stream) => this.screen.get(stream) ?? '');
  }

  take(item: TailItem): void {
    for (const shown of this.transcript.apply(item)) this.show(shown);
  }

  private show(shown: Shown): void {
    if ('append' in shown) {
      this.screen.set(shown.stream, (this.screen.get(shown.stream) ?? '') + shown.append);
      return;
    }
    if ('retracted' in shown) {
      for (const { stream, text } of shown.retracted) {
        strictEqual(this.screen.get(stream) ?? '', text, 'what is taken back is what was shown');
        this.screen.delete(stream);
        this.final.delete(stream);
      }
      return;
    }
    const { event } = shown.final;
    if (event.type !== 'say' || event.say !== 'text' || shown.stream === undefined) return;
    const before = this.screen.get(shown.stream) ?? '';
    strictEqual(before.length, shown.shown, 'as much was shown before');
    this.screen.set(shown.stream, shown.rest === undefined ? event.text : before + shown.rest);
    this.final.add(shown.stream);
  }
}

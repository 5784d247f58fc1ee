import { type FSWatcher, watch } from 'node:fs';

const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 250;
/** Changes closer together than this are seen at once. */
const SPACING_MS = 4;

/** Wakes whoever follows a command: when its folder changes, when told to, and now and then in any case. */
export class Waker {
  private watcher: FSWatcher | undefined;
  private pause = FIRST_PAUSE_MS;
  private wake: (() => void) | undefined;
  private woken = false;
  private last = 0;

  constructor(dir: string) {
    try {
      // without `watch` (too many watches, a network folder) the pauses alone have to do, and stay short
      this.watcher = watch(dir, { persistent: false }, () => this.ring()).on('error', () => this.unwatch());
    } catch {
      this.watcher = undefined;
    }
  }

  /** No longer wakes for every change: of a command that prints without end nothing more is shown. */
  unwatch(): void {
    this.watcher?.close();
    this.watcher = undefined;
  }

  ring(): void {
    this.woken = true;
    this.wake?.();
  }

  async wait(): Promise<void> {
    if (!this.woken) {
      this.pause = Math.min(this.pause * 2, this.watcher ? LONGEST_PAUSE_MS : LONGEST_PAUSE_MS / 5);
      await this.rest(this.pause);
    }
    const early = this.last + SPACING_MS - performance.now();
    if (early > 1) await new Promise((resolve) => setTimeout(resolve, early));
    this.last = performance.now();
    this.woken = false;
  }

  private async rest(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      timer = setTimeout(resolve, ms);
    });
    clearTimeout(timer);
    this.wake = undefined;
  }

  close(): void {
    this.unwatch();
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest stretch of work before other work of the process gets its turn, in ms. */
const STRETCH_MS = 30;

/**
 * Keeps long work on the main thread from holding up everything else: the work asks now and then whether a rest is
 * {@link due}, and takes it.
 */
export class Pace {
  private since = performance.now();

  constructor(readonly signal?: AbortSignal) {}

  get due(): boolean {
    return performance.now() - this.since > STRETCH_MS;
  }

  /** @throws the signal's reason once it has fired */
  async rest(): Promise<void> {
    await nextTurn();
    this.signal?.throwIfAborted();
    this.since = performance.now();
  }
}

/** ms without a sign of life after which a process that still exists has hung. */
export const HUNG_MS = 30_000;

/** A look that comes so much late, ms, means that this machine, or this process, was suspended too. */
const SUSPENDED_MS = 10_000;

/**
 * Judges by signs of life whether a process has hung. One that has never given any is not judged, and after a
 * suspension it gets the whole time again. Time is this process's monotonic clock.
 */
export class Pulse {
  private last: number | undefined;
  private looked: number;

  /** @param now ms, monotonic */
  constructor(
    private readonly limitMs = HUNG_MS,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.looked = now();
  }

  /** A sign of life. */
  beat(): void {
    this.last = this.now();
  }

  /** Call this every few seconds. */
  hasHung(): boolean {
    const now = this.now();
    if (now - this.looked > SUSPENDED_MS && this.last !== undefined) this.last = now;
    this.looked = now;
    return this.last !== undefined && now - this.last > this.limitMs;
  }
}

import type { Io } from './io.js';

export type Stop = 'interrupt' | 'detach';

/** Collects the signals that ask a command to leave, from before the task exists until somebody handles them. */
export class StopSignals {
  private handler: ((stop: Stop) => void) | undefined;
  private readonly early: Stop[] = [];
  private readonly interrupt = () => this.arrived('interrupt');
  private readonly detach = () => this.arrived('detach');

  constructor(private readonly io: Io) {
    io.signals.on('SIGINT', this.interrupt);
    io.signals.on('SIGTERM', this.detach);
    io.signals.on('SIGHUP', this.detach);
  }

  handle(handler: (stop: Stop) => void): void {
    this.handler = handler;
    for (const stop of this.early.splice(0)) handler(stop);
  }

  dispose(): void {
    this.io.signals.off('SIGINT', this.interrupt);
    this.io.signals.off('SIGTERM', this.detach);
    this.io.signals.off('SIGHUP', this.detach);
  }

  private arrived(stop: Stop): void {
    if (this.handler) this.handler(stop);
    else this.early.push(stop);
  }
}

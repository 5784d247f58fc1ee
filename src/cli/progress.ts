import type { Activity } from './activity.js';
import { columns, type Io, painter } from './io.js';
import type { Screen } from './screen.js';

const TICK_MS = 1000;

/** Shows what goes on in one line below the output, while nothing else is written; only where lines can be rewritten. */
export class Progress {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly io: Io,
    private readonly screen: Screen,
    private readonly activity: Activity,
  ) {}

  start(): void {
    if (!this.io.live) return;
    this.timer = setInterval(() => this.show(), TICK_MS);
  }

  stop(): void {
    clearInterval(this.timer);
    this.screen.setStatus(undefined);
  }

  private show(): void {
    if (this.screen.quietMs < TICK_MS - 100) return;
    const line = this.activity.line(Date.now(), columns(this.io) - 1);
    this.screen.setStatus(line === undefined ? undefined : painter(this.io.colour)('dim', line));
  }
}

import type { Partial, StoredEvent } from '../domain/events.js';
import type { TaskStatus } from '../domain/outcomes.js';
import { type Io, printJson } from './io.js';
import type { RunEnd, TaskHead, View } from './view.js';

/** One JSON object a line; see docs/cli.md for the lines. */
export class JsonView implements View {
  private task = '';
  /** What the log has said last. */
  private status: TaskStatus = 'starting';

  constructor(private readonly io: Io) {}

  head(head: TaskHead): void {
    this.task = head.task;
    const { task, workspace, model, ui, tightened } = head;
    printJson(this.io, { type: 'task', task, workspace, model, ui: ui ?? null, ...(tightened && { tightened }) });
  }

  async event(stored: StoredEvent): Promise<void> {
    this.task = stored.task;
    if (stored.event.type === 'status') this.status = stored.event.status;
    printJson(this.io, eventLine(stored));
  }

  async partial(partial: Partial): Promise<void> {
    printJson(this.io, { type: 'partial', ...partial });
  }

  notice(status: 'no_worker' | 'worker_back', text: string): void {
    const shown = status === 'no_worker' ? 'no_worker' : this.status;
    printJson(this.io, { type: 'status', task: this.task, status: shown, reason: text });
  }

  detached(task: string): void {
    printJson(this.io, { type: 'detached', task });
  }

  end(end: RunEnd): void {
    printJson(this.io, outcomeLine(end));
  }
}

/** A stored event as a line of `--json`, without `v`. */
export function eventLine({ task, seq, at, event }: StoredEvent): Record<string, unknown> {
  return { task, seq, at: new Date(at).toISOString(), ...event };
}

/** The last line of `run --json` and `attach --json`, without `v`. */
export function outcomeLine(end: RunEnd): Record<string, unknown> {
  const { task, outcome, totals, answer } = end;
  const sums = { turns: totals.turns, usage: totals.usage, cost: totals.cost };
  const common = { type: 'outcome', task, outcome: outcome.outcome };
  switch (outcome.outcome) {
    case 'completed':
      return { ...common, result: end.result ?? '', ...sums };
    case 'budget':
      return { ...common, limit: outcome.limit, message: outcome.message, ...sums };
    case 'cancelled':
      return { ...common, ...(end.unconfirmed ? { confirmed: false } : {}), ...sums };
    case 'failed':
      return { ...common, class: outcome.class, message: outcome.message, ...sums };
    case 'needs_human': {
      const { ask, question, until } = outcome;
      const parked = until === undefined ? {} : { until: new Date(until).toISOString() };
      return { ...common, ask, question, ...parked, answer: answer ?? null, ...sums };
    }
  }
}

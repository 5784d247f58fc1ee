import type { Partial, SayEvent, StoredEvent, TaskEvent } from '../domain/events.js';
import { neutralLine } from './neutral.js';
import { clock, dateTime, duration, fitTo } from './text.js';
import { commandOf } from './words.js';

/** Something that goes on, since a time in ms since the epoch. */
interface Going {
  what: string;
  since: number;
}

/** What a task is doing, as its log tells: for the line that is shown while nothing new comes. */
export class Activity {
  private turn = 0;
  private request: Going | undefined;
  private status: Going | undefined;
  private retryAt = 0;
  private last = 0;
  private closed = false;
  private readonly calls = new Map<string, Going>();
  private readonly asks = new Map<string, number>();
  private without: Going | undefined;
  private todo = '';

  apply({ at, event }: StoredEvent): void {
    this.last = at;
    switch (event.type) {
      case 'say':
        this.say(event, at);
        return;
      case 'ask':
        this.asks.set(event.ask.id, at);
        return;
      case 'ask_closed':
        this.asks.delete(event.ask);
        return;
      case 'rewound':
        this.request = undefined;
        this.calls.clear();
        return;
      case 'ask_reminder':
      case 'retract':
      case 'pause':
      case 'mode':
      case 'limits':
        return;
      case 'status':
        this.changed(event, at);
        return;
      case 'closed':
        this.closed = true;
        return;
    }
  }

  partial({ kind }: Pick<Partial, 'kind'>): void {
    if (this.request && kind === 'tool_input') this.request.what = 'the model writes a tool call';
  }

  /** Nobody works on it, says this command's own look. @param what such as `no worker`; undefined: somebody does */
  unserved(what: string | undefined, since = 0): void {
    this.without = what === undefined ? undefined : { what, since };
  }

  /** Such as `turn 12 · asking the model · 2/5 done · 8 s`, within so many columns; undefined when the task is over. */
  line(now: number, width: number): string | undefined {
    if (this.closed) return undefined;
    if (this.without) return fitTo(`${this.without.what} since ${clock(this.without.since)}`, width);
    if (this.retryAt > now && !this.status)
      return fitTo(`turn ${this.turn} · the model is asked again in ${seconds(this.retryAt - now)}`, width);
    const { what, since } = this.going();
    const time = `${this.todo} · ${seconds(now - since)}`;
    return fitTo(what, width - time.length) + time;
  }

  private going(): Going {
    if (this.status) return this.status;
    const [asked] = this.asks.values();
    if (asked !== undefined) return { what: 'waiting for an answer', since: asked };
    const calls = [...this.calls.values()];
    const call = calls.at(-1);
    if (call) {
      const more = calls.length > 1 ? ` and ${calls.length - 1} more` : '';
      return { ...call, what: call.what + more };
    }
    if (this.request) return { ...this.request, what: `turn ${this.turn} · ${this.request.what}` };
    return { what: this.turn > 0 ? `turn ${this.turn}` : 'starting', since: this.last };
  }

  private say(event: SayEvent, at: number): void {
    switch (event.say) {
      case 'api_req_started':
        this.turn = event.number;
        this.request = { what: 'asking the model', since: at };
        this.retryAt = 0;
        return;
      case 'api_req_finished':
        this.request = undefined;
        return;
      case 'error_retry':
        this.request = undefined;
        this.retryAt = at + event.delayMs;
        return;
      case 'command':
        this.calls.set(event.call, { what: `$ ${commandOf(event)}`, since: at });
        return;
      case 'tool':
        this.calls.set(event.call, { what: neutralLine(event.summary), since: at });
        return;
      case 'tool_result':
      case 'command_output':
        this.calls.delete(event.call);
        return;
      case 'task_progress':
        this.todo = ` · ${event.done}/${event.total} done`;
        return;
      case 'task':
      case 'user_feedback':
      case 'text':
      case 'reasoning':
      case 'error':
      case 'info':
      case 'completion_result':
        return;
    }
  }

  private changed(event: Extract<TaskEvent, { type: 'status' }>, at: number): void {
    this.closed = false;
    switch (event.status) {
      case 'parked':
        this.status = {
          what: event.until === undefined ? 'parked' : `parked until ${dateTime(event.until)}`,
          since: at,
        };
        return;
      case 'aborting':
      case 'paused':
        this.status = { what: event.status, since: at };
        return;
      case 'starting':
      case 'running':
      case 'waiting':
      case 'no_worker':
      case 'completed':
      case 'budget':
      case 'cancelled':
      case 'failed':
        this.status = undefined;
        return;
    }
  }
}

function seconds(ms: number): string {
  return ms < 60_000 ? `${Math.max(0, Math.floor(ms / 1000))} s` : duration(ms);
}

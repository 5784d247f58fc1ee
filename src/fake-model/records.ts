import { EventEmitter } from 'node:events';
import type { Rule } from './rules.js';

/** How a request ended, or `open` while it has not. */
export type Verdict =
  | { kind: 'open' }
  /** Answered to the end; `stop` is the stop reason. */
  | { kind: 'answered'; stop: string }
  /** Refused for breaking a rule, with all rules that were broken. */
  | { kind: 'refused'; status: number; rules: Rule[]; message: string }
  /** A fault of the script struck. */
  | { kind: 'fault'; fault: 'status' | 'html' | 'error' | 'cut' | 'close' | 'stall'; status?: number }
  /** The client left before the answer had ended. */
  | { kind: 'aborted' };

export interface RecordedRequest {
  /** From 1, in order of arrival. */
  number: number;
  /** ms since the epoch */
  at: number;
  path: string;
  /** Without the key's value. */
  headers: Record<string, string>;
  /** Length of the body in bytes. */
  bytes: number;
  /** As received, parsed; undefined when it was not JSON or is no longer kept. */
  body: unknown;
  /** The same for all requests of one conversation; '' when the request was not understood. */
  conversation: string;
  /** Number of assistant messages in it. */
  turn: number;
  verdict: Verdict;
  /** Events sent. */
  events: number;
  /** When the exchange ended, in ms since the epoch, and by whom; undefined while it is open. */
  ended?: { at: number; by: 'server' | 'client' };
}

/** What a server has been asked, in order. */
export class Records {
  readonly list: RecordedRequest[] = [];
  private readonly changes = new EventEmitter();

  private kept = 0;
  private oldestKept = 0;

  /** @param keepBytes the bodies of the latest requests are kept, up to so many bytes as received */
  constructor(
    private readonly keepBytes: number,
    private readonly onEnd: ((record: RecordedRequest) => void) | undefined,
  ) {
    this.changes.setMaxListeners(0);
  }

  add(path: string, headers: Record<string, string>): RecordedRequest {
    const record: RecordedRequest = {
      number: this.list.length + 1,
      at: Date.now(),
      path,
      headers,
      bytes: 0,
      body: undefined,
      conversation: '',
      turn: 0,
      verdict: { kind: 'open' },
      events: 0,
    };
    this.list.push(record);
    this.changed();
    return record;
  }

  /** Keeps a body, and drops the oldest ones when there are too many. The latest is always kept. */
  keep(record: RecordedRequest, body: unknown): void {
    record.body = body;
    this.kept += record.bytes;
    while (this.kept > this.keepBytes && this.oldestKept < record.number - 1) {
      const old = this.list[this.oldestKept++] as RecordedRequest;
      if (old.body === undefined) continue;
      old.body = undefined;
      this.kept -= old.bytes;
    }
  }

  end(record: RecordedRequest, by: 'server' | 'client'): void {
    if (record.ended) return;
    record.ended = { at: Date.now(), by };
    if (by === 'client' && record.verdict.kind === 'open') record.verdict = { kind: 'aborted' };
    this.onEnd?.(record);
    this.changed();
  }

  changed(): void {
    this.changes.emit('change');
  }

  /** @throws Error when it has not become true after `ms` */
  async until(check: (requests: readonly RecordedRequest[]) => boolean, ms: number): Promise<void> {
    if (check(this.list)) return;
    await new Promise<void>((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        this.changes.off('change', look);
      };
      const look = () => {
        if (!check(this.list)) return;
        stop();
        resolve();
      };
      const timer = setTimeout(() => {
        stop();
        reject(new Error(`not seen within ${ms} ms; ${this.list.length} requests so far`));
      }, ms);
      this.changes.on('change', look);
    });
  }
}

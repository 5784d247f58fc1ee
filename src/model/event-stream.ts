import { createParser } from 'eventsource-parser';
import type { ProviderFailure } from '../domain/failures.js';
import type { RawEvent } from './answer-reader.js';

/** How long a stream may be silent, and how long it may be open at all; ms. */
export interface StreamLimits {
  idleMs: number;
  totalMs: number;
}

/** No event for this long, pings included, is a failed attempt; so is a stream open for longer than the cap. */
export const DEFAULT_LIMITS: StreamLimits = { idleMs: 90_000, totalMs: 30 * 60_000 };

/** A failed model request as an exception inside the activity; it leaves it as a result. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  constructor(readonly failure: ProviderFailure) {
    super(failure.message);
  }
}

/** Largest piece without an event boundary: a provider that sends more is not speaking the protocol. */
const MAX_BUFFER = 32 * 1024 * 1024;

/**
 * Reads the server-sent events of a response below the SDK, which hides pings, and an end without `message_stop`.
 * Ends normally only when the connection does; the reader decides whether that was too early.
 *
 * @param watchdog reset by every event; aborts the request when it runs out
 */
export async function* readEvents(response: Response, watchdog: Watchdog): AsyncGenerator<RawEvent> {
  const type = response.headers.get('content-type') ?? '';
  if (!type.includes('text/event-stream')) throw new RequestFailed(noStream(type, await response.text()));
  if (!response.body) throw new RequestFailed({ class: 'bad_response', message: 'The response has no body.' });
  const queue: RawEvent[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      watchdog.feed();
      const event = parseEvent(data);
      if (event) queue.push(event);
    },
    onComment: () => watchdog.feed(),
  });
  const decoder = new TextDecoder();
  let pending = 0;
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    pending += chunk.byteLength;
    if (pending > MAX_BUFFER) {
      throw new RequestFailed({ class: 'bad_response', message: 'The stream sent 32 MB without a complete event.' });
    }
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (queue.length > 0) pending = 0;
    while (queue.length > 0) yield queue.shift()!;
  }
}

/** A page of something in between may be gone the next time; JSON is an answer that was paid for, and will be again. */
function noStream(type: string, body: string): ProviderFailure {
  const said = type === '' ? 'no content type' : `"${type}"`;
  const start = body.trim() === '' ? 'nothing' : body.slice(0, 200);
  const message = `The provider's address answered with ${said} instead of a stream: ${start}`;
  return { class: /\bjson\b/.test(type) ? 'address' : 'bad_response', message };
}

function parseEvent(data: string): RawEvent | undefined {
  try {
    const value: unknown = JSON.parse(data);
    const isEvent = value !== null && typeof value === 'object' && typeof (value as RawEvent).type === 'string';
    return isEvent ? (value as RawEvent) : undefined;
  } catch {
    throw new RequestFailed({
      class: 'bad_response',
      message: `The stream sent an event that is not JSON: ${data.slice(0, 100)}`,
    });
  }
}

/** Ends a request that is silent for too long or open for too long, and knows which it was. */
export class Watchdog {
  readonly controller = new AbortController();
  failure: ProviderFailure | undefined;
  private idle: NodeJS.Timeout | undefined;
  private readonly total: NodeJS.Timeout;

  constructor(
    private readonly limits: StreamLimits,
    outer: AbortSignal,
  ) {
    const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`;
    this.total = setTimeout(
      () => this.end({ class: 'too_long', message: `The answer was not complete after ${seconds(limits.totalMs)}.` }),
      limits.totalMs,
    );
    if (outer.aborted) this.controller.abort();
    else outer.addEventListener('abort', () => this.controller.abort(), { once: true, signal: this.controller.signal });
    this.feed();
  }

  feed(): void {
    if (this.idle) {
      if (!this.controller.signal.aborted) this.idle.refresh();
      return;
    }
    this.idle = setTimeout(() => {
      const seconds = Math.round(this.limits.idleMs / 100) / 10;
      this.end({ class: 'stalled', message: `The provider sent nothing for ${seconds} s.` });
    }, this.limits.idleMs);
  }

  stop(): void {
    clearTimeout(this.idle);
    clearTimeout(this.total);
    this.controller.abort();
  }

  private end(failure: ProviderFailure): void {
    this.failure ??= failure;
    this.stop();
  }
}

import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, StreamEvent } from './answer.js';
import type { Action } from './play.js';
import type { RecordedRequest, Records } from './records.js';
import { ERROR_STATUS, type ErrorType } from './steps.js';

/** So that what was written before a reset has arrived: a reset drops what is still on its way. */
const BEFORE_RESET_MS = 30;

export interface Exchange {
  res: ServerResponse;
  record: RecordedRequest;
  records: Records;
  requestId: string;
  /** Fires when the connection is gone. */
  signal: AbortSignal;
}

/** Performs an answer. Returns when it has ended, or the client has left. */
export async function send(
  actions: Iterable<Action>,
  exchange: Exchange,
  answer: Answer,
  streaming: boolean,
): Promise<void> {
  const { record, signal } = exchange;
  try {
    for (const action of actions) {
      if (signal.aborted) return;
      switch (action.do) {
        case 'event':
          answer.apply(action.event);
          if (streaming) await writeEvent(action.event, exchange);
          record.events++;
          noteStop(action.event, record);
          exchange.records.changed();
          break;
        case 'wait':
          await sleep(action.ms, undefined, { signal });
          break;
        case 'stall':
          record.verdict = { kind: 'fault', fault: 'stall' };
          exchange.records.changed();
          if (streaming) flushHead(exchange);
          await gone(signal);
          return;
        case 'reset':
          await reset(exchange);
          return;
        case 'end':
          endBody(exchange, answer, streaming);
          return;
        case 'fail':
          await fail(action, exchange, streaming);
          return;
        case 'respond':
          respond(action, exchange);
          return;
        default:
          action satisfies never;
      }
    }
  } catch (err) {
    if (!signal.aborted) throw err;
  }
}

/** Sends an error body, as the Messages API does. */
export function sendError(
  { res, requestId }: Pick<Exchange, 'res' | 'requestId'>,
  status: number,
  type: ErrorType,
  message: string,
  headers: Record<string, string> = {},
): void {
  res.writeHead(status, { 'content-type': 'application/json', 'request-id': requestId, ...headers });
  res.end(JSON.stringify({ type: 'error', error: { type, message }, request_id: requestId }));
}

function noteStop(event: StreamEvent, record: RecordedRequest): void {
  if (event.type !== 'message_delta') return;
  const { stop_reason: stop } = (event.delta ?? {}) as { stop_reason?: unknown };
  record.verdict = { kind: 'answered', stop: String(stop) };
}

function flushHead({ res, requestId }: Exchange): void {
  if (res.headersSent) return;
  res.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'request-id': requestId,
  });
  res.flushHeaders();
}

async function writeEvent(event: StreamEvent, exchange: Exchange): Promise<void> {
  flushHead(exchange);
  const { res, signal } = exchange;
  if (res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      res.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    res.once('drain', done);
    signal.addEventListener('abort', done);
  });
}

async function reset({ res, record, signal }: Exchange): Promise<void> {
  await sleep(BEFORE_RESET_MS, undefined, { signal });
  record.verdict = { kind: 'fault', fault: 'cut' };
  res.socket?.resetAndDestroy();
}

function endBody(exchange: Exchange, answer: Answer, streaming: boolean): void {
  const { res, record, requestId } = exchange;
  const complete = record.verdict.kind === 'answered';
  if (!complete) record.verdict = { kind: 'fault', fault: 'close' };
  if (streaming) {
    flushHead(exchange);
    res.end();
    return;
  }
  const body = JSON.stringify(answer.body());
  res.writeHead(200, { 'content-type': 'application/json', 'request-id': requestId });
  res.end(complete ? body : body.slice(0, body.length / 2));
}

async function fail(
  { type, message = MESSAGES[type] }: Extract<Action, { do: 'fail' }>,
  exchange: Exchange,
  streaming: boolean,
): Promise<void> {
  exchange.record.verdict = { kind: 'fault', fault: 'error', status: streaming ? 200 : ERROR_STATUS[type] };
  if (!streaming) {
    sendError(exchange, ERROR_STATUS[type], type, message);
    return;
  }
  await writeEvent({ type: 'error', error: { type, message }, request_id: exchange.requestId }, exchange);
  exchange.record.events++;
  exchange.res.end();
}

function respond(action: Extract<Action, { do: 'respond' }>, exchange: Exchange): void {
  const { status, headers, html } = action;
  exchange.record.verdict = { kind: 'fault', fault: html ? 'html' : 'status', status };
  if (!html) {
    const type = typeOfStatus(status);
    sendError(exchange, status, type, action.message ?? MESSAGES[type], headers);
    return;
  }
  exchange.res.writeHead(status, { 'content-type': 'text/html' });
  exchange.res.end(`<html><head><title>${status}</title></head><body><h1>The proxy got no answer</h1></body></html>\n`);
}

const MESSAGES: Record<ErrorType, string> = {
  invalid_request_error: 'The script says that this request is invalid',
  authentication_error: 'The script says that this key is invalid',
  billing_error: 'The script says that there is no credit left',
  permission_error: 'The script says that this is not permitted',
  not_found_error: 'The script says that this does not exist',
  request_too_large: 'The script says that this request is too large',
  rate_limit_error: 'The script says that there were too many requests',
  api_error: 'The script says that the provider has failed',
  timeout_error: 'The script says that the provider took too long',
  overloaded_error: 'Overloaded',
};

function typeOfStatus(status: number): ErrorType {
  const found = Object.entries(ERROR_STATUS).find(([, code]) => code === status)?.[0] as ErrorType | undefined;
  return found ?? (status < 500 ? 'invalid_request_error' : 'api_error');
}

function gone(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

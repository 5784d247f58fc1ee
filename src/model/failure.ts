import { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import type { FailureClass, ProviderFailure } from '../domain/failures.js';
import { cut } from '../domain/text.js';
import { RequestFailed } from './event-stream.js';

/** Longest text of a provider that people are shown. */
const MAX_MESSAGE = 500;

/** Says of anything that went wrong with a request which class of failure it is. */
export function failureOf(err: unknown): ProviderFailure {
  if (err instanceof RequestFailed) return err.failure;
  if (err instanceof APIConnectionError) return { class: 'connection', message: connectionMessage(err) };
  if (err instanceof APIError) return statusFailure(err);
  if (isNetworkError(err)) return { class: 'connection', message: connectionMessage(err) };
  const message = err instanceof Error ? `${err.name}: ${err.message}` : String(err);
  return { class: 'internal', message: cut(`The answer could not be processed: ${message}`, MAX_MESSAGE) };
}

/** The same for an `error` event that came inside the stream, after status 200. */
export function eventFailure(type: string, message: string): ProviderFailure {
  return { class: classOfType(type, message), message: cut(`The provider said: ${message || type}`, MAX_MESSAGE) };
}

function statusFailure(err: APIError): ProviderFailure {
  const status = typeof err.status === 'number' ? err.status : undefined;
  const { type, message } = bodyOf(err);
  const failure: ProviderFailure = {
    class: status === undefined ? classOfType(type, message) : classOfStatus(status, message),
    message: cut(status === undefined ? message : `HTTP ${status}: ${message}`, MAX_MESSAGE),
  };
  if (status !== undefined) failure.status = status;
  if (err.requestID) failure.requestId = err.requestID;
  const wait = retryAfter(err.headers, Date.now());
  if (wait !== undefined) failure.retryAfterMs = wait;
  return failure;
}

function classOfStatus(status: number, message: string): FailureClass {
  if (status === 400 || status === 422) return isContextWindow(message) ? 'context_window' : 'bad_request';
  if (status === 401 || status === 402 || status === 403) return 'auth';
  if (status === 404) return 'not_found';
  if (status === 413) return 'too_large';
  if (status === 429) return 'rate_limit';
  if (status === 529) return 'overloaded';
  if (status === 408 || status === 409 || status >= 500) return 'server_error';
  return 'bad_request';
}

function classOfType(type: string, message: string): FailureClass {
  switch (type) {
    case 'overloaded_error':
      return 'overloaded';
    case 'rate_limit_error':
      return 'rate_limit';
    case 'authentication_error':
    case 'permission_error':
    case 'billing_error':
      return 'auth';
    case 'not_found_error':
      return 'not_found';
    case 'request_too_large':
      return 'too_large';
    case 'invalid_request_error':
      return isContextWindow(message) ? 'context_window' : 'bad_request';
    default:
      return 'server_error';
  }
}

function isContextWindow(message: string): boolean {
  return /prompt is too long|context (window|length)|maximum context|too many tokens|exceed.{0,40}context/i.test(
    message,
  );
}

function bodyOf(err: APIError): { type: string; message: string } {
  const body = err.error as { error?: { type?: unknown; message?: unknown } } | undefined;
  const type = typeof body?.error?.type === 'string' ? body.error.type : '';
  const said = typeof body?.error?.message === 'string' ? body.error.message : err.message;
  const text = /<html|<!doctype/i.test(said) ? 'a web page instead of an API answer (is a proxy in between?)' : said;
  return { type, message: text };
}

/** `retry-after-ms`, or `retry-after` as seconds or as a date; ms from `now`. */
function retryAfter(headers: Headers | undefined, now: number): number | undefined {
  const ms = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms);
  const value = headers?.get('retry-after');
  if (!value) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds) && seconds >= 0) return Math.ceil(seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function connectionMessage(err: unknown): string {
  const parts: string[] = [];
  for (let at: unknown = err; at instanceof Error && parts.length < 4; at = at.cause) {
    const code = (at as { code?: unknown }).code;
    const text = typeof code === 'string' && !at.message.includes(code) ? `${at.message} (${code})` : at.message;
    if (text !== '' && !parts.includes(text)) parts.push(text);
  }
  return cut(`No connection to the provider, or it was lost: ${parts.join(': ')}`, MAX_MESSAGE);
}

/** Codes of sockets, names, TLS and of Node's HTTP client; not those of files. */
const NETWORK_CODES =
  /^(ECONN|ENET|EHOST|EADDR|EAI_|ENOTFOUND|EPIPE|ETIMEDOUT|EPROTO|UND_ERR_|HPE_|CERT_|ERR_(STREAM|SOCKET|TLS|SSL|HTTP|INVALID_URL))/;

/** What `fetch` throws while a body is read: a TypeError whose cause is the socket's error, or that error itself. */
function isNetworkError(err: unknown): boolean {
  if (!(err instanceof Error)) return false;
  if (err.name === 'AbortError' || err.name === 'TimeoutError') return true;
  if (err instanceof TypeError && /fetch failed|terminated|network/i.test(err.message)) return true;
  const code = (err as { code?: unknown }).code;
  return typeof code === 'string' && NETWORK_CODES.test(code);
}

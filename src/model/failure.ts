import { APIConnectionError, APIError } from '@anthropic-ai/sdk';
import type { ProviderFailure } from '../domain/failures.js';
import { cut } from '../domain/text.js';
import { causesOf, codesOf, isAddressTrouble, isTlsTrouble } from './connection-trouble.js';
import { RequestFailed } from './event-stream.js';
import { shownAddress } from './profiles.js';
import { judgeError } from './provider-error.js';

/** Longest text of a provider that people are shown. */
const MAX_MESSAGE = 500;

/** Says of anything that went wrong with a request which class of failure it is. */
export function failureOf(err: unknown): ProviderFailure {
  if (err instanceof RequestFailed) return err.failure;
  if (err instanceof APIConnectionError) return connectionFailure(err);
  if (err instanceof APIError) return statusFailure(err);
  if (isUnsendable(err)) {
    const message = 'The key, or another header, holds characters that no request can carry.';
    return { class: 'auth', message };
  }
  if (isNetworkError(err)) return connectionFailure(err);
  const message = err instanceof Error ? `${err.name}: ${err.message}` : String(err);
  return { class: 'internal', message: cut(`The answer could not be processed: ${message}`, MAX_MESSAGE) };
}

/** The same for an `error` event that came inside the stream, after status 200. */
export function eventFailure(type: string, message: string): ProviderFailure {
  const judged = judgeError({ type, message }, Date.now());
  return { ...judged, message: cut(`The provider said: ${message || type}`, MAX_MESSAGE) };
}

function statusFailure(err: APIError): ProviderFailure {
  const status = typeof err.status === 'number' ? err.status : undefined;
  const { headers } = err;
  const { type, message } = bodyOf(err);
  const error = { ...(status === undefined ? {} : { status }), type, message, headers };
  const judged = judgeError(error, Date.now());
  const location = judged.class === 'address' ? redirectNote(headers?.get('location')) : undefined;
  return {
    ...judged,
    message: cut(status === undefined ? message : `HTTP ${status}: ${location ?? message}`, MAX_MESSAGE),
    ...(status === undefined ? {} : { status }),
    ...(err.requestID ? { requestId: err.requestID } : {}),
  };
}

function redirectNote(location: string | null | undefined): string {
  const where = location && URL.canParse(location) ? ` to ${shownAddress(location)}` : '';
  return `a redirect${where}, which is not followed (ANTHROPIC_BASE_URL has to be the API's own address)`;
}

function bodyOf(err: APIError): { type: string; message: string } {
  const body = err.error as { error?: { type?: unknown; message?: unknown } } | undefined;
  const type = typeof body?.error?.type === 'string' ? body.error.type : '';
  const said = typeof body?.error?.message === 'string' ? body.error.message : err.message;
  const text = /<html|<!doctype/i.test(said) ? 'a web page instead of an API answer (is a proxy in between?)' : said;
  return { type, message: text };
}

function connectionFailure(err: unknown): ProviderFailure {
  const causes = causesOf(err);
  if (isTlsTrouble(causes)) {
    return { class: 'tls', message: described('The connection to the provider is not secure', err) };
  }
  if (isAddressTrouble(causes)) {
    return { class: 'address', message: described("The provider's address cannot be used", err) };
  }
  return { class: 'connection', message: described('No connection to the provider, or it was lost', err) };
}

function described(what: string, err: unknown): string {
  const parts: string[] = [];
  for (const { code, message } of causesOf(err).slice(0, 4)) {
    const text = typeof code === 'string' && !message.includes(code) ? `${message} (${code})` : message;
    if (text !== '' && !parts.includes(text)) parts.push(text);
  }
  return cut(`${what}: ${parts.join(': ')}`, MAX_MESSAGE);
}

/** Codes of sockets, names, TLS and of Node's HTTP client; not those of files. */
const NETWORK_CODES =
  /^(ECONN|ENET|EHOST|EADDR|EAI_|ENOTFOUND|EPIPE|ETIMEDOUT|EPROTO|UND_ERR_|HPE_|CERT_|ERR_(STREAM|SOCKET|TLS|SSL|HTTP|INVALID_URL))/;

/** What `fetch` throws while a body is read: a TypeError whose cause is the socket's error, or that error itself. */
function isNetworkError(err: unknown): boolean {
  if (!(err instanceof Error)) return false;
  if (err.name === 'AbortError' || err.name === 'TimeoutError') return true;
  if (err instanceof TypeError && /fetch failed|terminated|network/i.test(err.message)) return true;
  return codesOf([err]).some((code) => NETWORK_CODES.test(code));
}

/** The headers could not even be made; the message would show the key. */
function isUnsendable(err: unknown): boolean {
  return err instanceof TypeError && /invalid header value|ByteString/i.test(err.message);
}

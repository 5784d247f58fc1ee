import Anthropic from '@anthropic-ai/sdk';
import type { RawEvent } from './answer-reader.js';
import { RequestFailed, readEvents, type Watchdog } from './event-stream.js';
import { PROVIDER_ADDRESS, type Profile } from './profiles.js';
import type { ModelRequest } from './request.js';

/**
 * Sends one request and yields the raw events of the answer. One try: retries belong to the workflow. Whatever ends
 * the loop that reads the events closes the connection.
 *
 * @param onResponse called with the provider's id of the request, once there is an answer
 * @throws RequestFailed, or an error of the SDK; `failureOf` classifies both
 */
export async function* requestEvents(
  profile: Profile,
  request: ModelRequest,
  watchdog: Watchdog,
  onResponse: (requestId: string | undefined) => void = () => undefined,
): AsyncGenerator<RawEvent> {
  const client = providerClient(profile);
  const headers = request.betas.length > 0 ? { 'anthropic-beta': request.betas.join(',') } : {};
  try {
    const response = await client.messages
      .create({ ...request.body, stream: true }, { signal: watchdog.controller.signal, headers })
      .asResponse();
    watchdog.feed();
    onResponse(response.headers.get('request-id') ?? undefined);
    yield* readEvents(response, watchdog);
  } catch (err) {
    throw watchdog.failure ? new RequestFailed(watchdog.failure) : err;
  } finally {
    watchdog.stop();
  }
  if (watchdog.failure) throw new RequestFailed(watchdog.failure);
}

/** How every request to a provider is made: no retries, no redirects, no clock but the caller's. */
export function providerClient(profile: Profile): Anthropic {
  return new Anthropic({
    apiKey: profile.apiKey ?? (profile.authToken === undefined ? 'none' : null),
    authToken: profile.authToken ?? null,
    // never the variable of this process, which the SDK would take: a profile's key goes to the profile's address
    baseURL: profile.baseURL ?? PROVIDER_ADDRESS,
    maxRetries: 0,
    timeout: 2 ** 31 - 1,
    logLevel: 'off',
    fetch: boundedFetch,
  });
}

/** Bytes read of an answer that is not a stream of events: an error, or a page of something in between. */
const MAX_PLAIN_BYTES = 64 * 1024;

/** Follows no redirect, which would carry the conversation to another host, and reads little of what is no stream. */
async function boundedFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, { ...init, redirect: 'manual' });
  const isStream = response.ok && (response.headers.get('content-type') ?? '').includes('text/event-stream');
  if (isStream || response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(await firstBytes(response.body), { status, statusText, headers });
}

async function firstBytes(body: ReadableStream<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= MAX_PLAIN_BYTES) break;
  }
  return new Uint8Array(Buffer.concat(chunks).subarray(0, MAX_PLAIN_BYTES));
}

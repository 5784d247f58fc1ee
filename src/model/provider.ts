import Anthropic from '@anthropic-ai/sdk';
import type { RawEvent } from './answer-reader.js';
import { RequestFailed, readEvents, type Watchdog } from './event-stream.js';
import type { Profile } from './profiles.js';
import type { ModelRequest } from './request.js';

/**
 * Sends one request and yields the raw events of the answer. One try: retries belong to the workflow. Whatever ends
 * the loop that reads the events closes the connection.
 *
 * @throws RequestFailed, or an error of the SDK; `failureOf` classifies both
 */
export async function* requestEvents(
  profile: Profile,
  request: ModelRequest,
  watchdog: Watchdog,
): AsyncGenerator<RawEvent> {
  const client = new Anthropic({
    apiKey: profile.apiKey ?? (profile.authToken === undefined ? 'none' : null),
    authToken: profile.authToken ?? null,
    ...(profile.baseURL === undefined ? {} : { baseURL: profile.baseURL }),
    maxRetries: 0,
    // The watchdog is the only clock.
    timeout: 2 ** 31 - 1,
    logLevel: 'off',
  });
  const headers = request.betas.length > 0 ? { 'anthropic-beta': request.betas.join(',') } : {};
  try {
    const response = await client.messages
      .create({ ...request.body, stream: true }, { signal: watchdog.controller.signal, headers })
      .asResponse();
    watchdog.feed();
    yield* readEvents(response, watchdog);
  } catch (err) {
    throw watchdog.failure ? new RequestFailed(watchdog.failure) : err;
  } finally {
    watchdog.stop();
  }
  if (watchdog.failure) throw new RequestFailed(watchdog.failure);
}

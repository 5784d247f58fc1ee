import { APIError } from '@anthropic-ai/sdk';
import { causesOf, codesOf, isTlsTrouble } from './connection-trouble.js';
import type { Profile } from './profiles.js';
import { providerClient } from './provider.js';

/** Why no answer came. `proxy`: what stands in between said no, or cannot be reached itself. */
export type Unreached = 'name' | 'refused' | 'secure' | 'timeout' | 'proxy' | 'other';

export type Reached =
  | {
      answered: true;
      status: number;
      /** The body is JSON, as that of an API. */
      json: boolean;
      /** The server's clock, ms since the epoch; ours in the middle between asking and its answer. */
      clock?: { theirs: number; ours: number };
    }
  | { answered: false; why: Unreached; detail: string };

/**
 * Asks the provider for its list of models, which costs nothing, in the way in which tasks ask it: the same client,
 * address, key, proxy and certificates. One try.
 */
export async function reachProvider(profile: Profile, timeoutMs: number): Promise<Reached> {
  const began = Date.now();
  const answer = (status: number, headers: Headers | undefined): Reached => {
    const theirs = Date.parse(headers?.get('date') ?? '');
    const json = /\bjson\b/.test(headers?.get('content-type') ?? '');
    const clock = Number.isNaN(theirs) ? {} : { clock: { theirs, ours: (began + Date.now()) / 2 } };
    return { answered: true, status, json, ...clock };
  };
  try {
    const response = await providerClient(profile)
      .models.list({ limit: 1 }, { signal: AbortSignal.timeout(timeoutMs) })
      .asResponse();
    await response.body?.cancel();
    return answer(response.status, response.headers);
  } catch (err) {
    if (err instanceof APIError && typeof err.status === 'number') return answer(err.status, err.headers);
    return { answered: false, ...unreached(err) };
  }
}

function unreached(err: unknown): { why: Unreached; detail: string } {
  const all = causesOf(err);
  // of several addresses that were tried, the first says enough
  const codes = codesOf(all);
  const detail = all.findLast(({ message }) => message !== '')?.message ?? String(err);
  const has = (pattern: RegExp): boolean => codes.some((code) => pattern.test(code));
  const said = all.map(({ name, message }) => `${name} ${message}`).join('\n');
  if (/proxy/i.test(said)) return { why: 'proxy', detail };
  if (has(/^(ENOTFOUND|EAI_)/)) return { why: 'name', detail };
  if (has(/^ECONNREFUSED$/)) return { why: 'refused', detail };
  if (isTlsTrouble(all)) return { why: 'secure', detail };
  if (has(/TIMEDOUT|TIMEOUT/) || /TimeoutError|aborted/i.test(said)) return { why: 'timeout', detail };
  return { why: 'other', detail };
}

/**
 * How long a provider asks to be left alone: `retry-after-ms` or `retry-after`; after too many requests also when a limit
 * that is used up is full again, by the headers of the API and of gateways; or the time that its words name.
 * @param now ms since the epoch, by our clock; the `date` of the answer goes before it, so that a wrong one does no harm
 * @returns ms; undefined when nothing, or nothing sensible, is said
 */
export function providersWait(
  { headers, message }: { headers?: Headers | undefined; message: string },
  isRateLimit: boolean,
  now: number,
): number | undefined {
  const theirs = Date.parse(headers?.get('date') ?? '');
  const at = Number.isNaN(theirs) ? now : theirs;
  return retryAfter(headers, at) ?? (isRateLimit ? limitReset(headers, at) : undefined) ?? namedTime(message, at);
}

function retryAfter(headers: Headers | undefined, now: number): number | undefined {
  const ms = number(headers?.get('retry-after-ms'));
  if (ms !== undefined) return Math.ceil(ms);
  const value = headers?.get('retry-after');
  const seconds = number(value);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  // a negative number is no date, although it would be read as one
  if (!value || /^[-+]?[\d.]/.test(value)) return undefined;
  return until(Date.parse(value), now);
}

/** Limits of the Messages API, each with its own headers. */
const LIMITS = ['requests', 'tokens', 'input-tokens', 'output-tokens'];

/** When the last of the limits that are used up is over. */
function limitReset(headers: Headers | undefined, now: number): number | undefined {
  if (!headers) return undefined;
  const resets = LIMITS.filter((name) => headers.get(`anthropic-ratelimit-${name}-remaining`) === '0').map((name) =>
    until(Date.parse(headers.get(`anthropic-ratelimit-${name}-reset`) ?? ''), now),
  );
  for (const name of ['anthropic-ratelimit-unified-reset', 'x-ratelimit-reset', 'ratelimit-reset']) {
    resets.push(fromNumber(number(headers.get(name)), now));
  }
  const known = resets.filter((ms) => ms !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** Seconds from now, or a time in seconds or ms since the epoch. */
function fromNumber(value: number | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (value < 1e9) return Math.ceil(value * 1000);
  return until(value < 1e12 ? value * 1000 : value, now);
}

/** "You will regain access on 2027-01-01 at 00:00 UTC.", or a time in seconds since the epoch behind a bar. */
function namedTime(message: string, now: number): number | undefined {
  const [, day, time = '00:00'] = /\baccess on (\d{4}-\d\d-\d\d)(?: at (\d\d:\d\d))?/i.exec(message) ?? [];
  if (day !== undefined) return until(Date.parse(`${day}T${time}Z`), now);
  const [, seconds] = /\blimit reached\|(\d{10})\b/i.exec(message) ?? [];
  return seconds === undefined ? undefined : until(Number(seconds) * 1000, now);
}

function until(time: number, now: number): number | undefined {
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}

function number(text: string | null | undefined): number | undefined {
  if (!text) return undefined;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

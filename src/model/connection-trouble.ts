/** An error as sockets, TLS and Node's HTTP client throw it. */
export type Cause = Error & { code?: unknown };

/** Causes that are looked at of one error. */
const MAX_DEPTH = 6;

/** The error and what caused it, outermost first; of several addresses that were tried, each. */
export function causesOf(err: unknown): Cause[] {
  const causes: Cause[] = [];
  for (let at: unknown = err; at instanceof Error && causes.length < MAX_DEPTH; at = at.cause) causes.push(at);
  return causes.flatMap((one) => (one instanceof AggregateError ? [one, ...(one.errors as Cause[])] : [one]));
}

export function codesOf(causes: readonly Cause[]): string[] {
  return causes.flatMap(({ code }) => (typeof code === 'string' ? [code] : []));
}

const TLS_CODES = /^(CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;
/** These say that something was lost on its way, not that the other end is a wrong one. */
const TLS_LOST = /BAD_RECORD|DECRYPT|UNEXPECTED_EOF|CLOSE_NOTIFY|INTERNAL_ERROR/i;

/** The other end cannot be trusted, or does not speak TLS. */
export function isTlsTrouble(causes: readonly Cause[]): boolean {
  const said = causes.map(({ message }) => message).join('\n');
  const codes = codesOf(causes);
  if (codes.some((code) => TLS_LOST.test(code)) || TLS_LOST.test(said)) return false;
  return codes.some((code) => TLS_CODES.test(code)) || /certificate|ssl routines/i.test(said);
}

/** No request can be made to such an address at all. */
export function isAddressTrouble(causes: readonly Cause[]): boolean {
  if (codesOf(causes).includes('ERR_INVALID_URL')) return true;
  return causes.some(({ message }) => /^(bad port|unknown scheme|invalid url|failed to parse url)/i.test(message));
}

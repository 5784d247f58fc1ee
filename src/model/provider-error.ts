import type { FailureClass } from '../domain/failures.js';
import { providersWait } from './wait-hint.js';

/** An error in the provider's own words, whether it came as an HTTP status or as an event of the stream. */
export interface ProviderError {
  /** Absent for an event. */
  status?: number;
  /** `error.type` of the body, or blank. */
  type: string;
  message: string;
  headers?: Headers | undefined;
}

/** Which class it is of, and how long the provider wants to be left alone, ms. */
export function judgeError(error: ProviderError, now: number): { class: FailureClass; retryAfterMs?: number } {
  const byStatus = error.status === undefined ? classOfType(error.type) : classOfStatus(error.status);
  const wait = providersWait(error, byStatus === 'rate_limit', now);
  const kind = refined(byStatus, error.message, wait);
  return wait === undefined ? { class: kind } : { class: kind, retryAfterMs: wait };
}

function classOfStatus(status: number): FailureClass {
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'billing';
  if (status === 404) return 'not_found';
  if (status === 413) return 'too_large';
  if (status === 429) return 'rate_limit';
  if (status === 529) return 'overloaded';
  if (status === 408 || status === 409 || status === 425 || status >= 500) return 'server_error';
  return status >= 300 && status < 400 ? 'address' : 'bad_request';
}

function classOfType(type: string): FailureClass {
  switch (type) {
    case 'overloaded_error':
      return 'overloaded';
    case 'rate_limit_error':
      return 'rate_limit';
    case 'authentication_error':
    case 'permission_error':
      return 'auth';
    case 'billing_error':
      return 'billing';
    case 'not_found_error':
      return 'not_found';
    case 'request_too_large':
      return 'too_large';
    case 'invalid_request_error':
      return 'bad_request';
    default:
      return 'server_error';
  }
}

/** What status and type leave open: limits and sizes come as invalid requests, an empty account also as a rate limit. */
function refined(kind: FailureClass, message: string, wait: number | undefined): FailureClass {
  switch (kind) {
    case 'bad_request':
    case 'auth':
      if (wait !== undefined && USAGE_LIMIT.test(message)) return 'rate_limit';
      if (USAGE_LIMIT.test(message) || NO_CREDIT.test(message)) return 'billing';
      return kind === 'bad_request' && CONTEXT_WINDOW.test(message) ? 'context_window' : kind;
    case 'rate_limit':
      return wait === undefined && NO_CREDIT.test(message) ? 'billing' : kind;
    default:
      return kind;
  }
}

const USAGE_LIMIT = /\b(usage|spend(ing)?) limits?\b/i;
const NO_CREDIT =
  /credit balance|(purchase|out of|insufficient) credits?|insufficient[_ ](quota|funds|balance)|exceeded your current quota|plans? (and|&) billing|check your (plan|billing)|extra usage is required/i;
/** As the API and the gateways before other models word it. */
const CONTEXT_WINDOW =
  /prompt is too long|input is too long|exceeds? (the )?(model'?s? )?(maximum )?context (limit|window|length|size)|context_length_exceeded|maximum context length|context (window|length) (was |is )?exceeded|exceeds the maximum number of tokens/i;

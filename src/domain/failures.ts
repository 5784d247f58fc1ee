/**
 * What can go wrong with a model request, as classes with one policy each. `transient` ones are tried again by the
 * workflow's ladder; the others need a person or end the turn.
 */
export type FailureClass =
  | 'overloaded'
  | 'rate_limit'
  | 'server_error'
  | 'connection'
  | 'cut'
  | 'stalled'
  | 'too_long'
  | 'auth'
  | 'not_found'
  | 'too_large'
  | 'context_window'
  | 'bad_request'
  | 'bad_response'
  /** Something of our own went wrong with this answer; asking again at once would cost the same again. */
  | 'internal';

export interface ProviderFailure {
  class: FailureClass;
  /** For people; at most 500 characters, without secrets. */
  message: string;
  /** HTTP status, when there was one. */
  status?: number;
  /** What the provider asked for, in ms. */
  retryAfterMs?: number;
  requestId?: string;
}

export function isTransient(failure: ProviderFailure): boolean {
  switch (failure.class) {
    case 'overloaded':
    case 'rate_limit':
    case 'server_error':
    case 'connection':
    case 'cut':
    case 'stalled':
    case 'too_long':
    case 'bad_response':
      return true;
    case 'auth':
    case 'not_found':
    case 'too_large':
    case 'context_window':
    case 'bad_request':
    case 'internal':
      return false;
  }
}

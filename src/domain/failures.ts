/**
 * What can go wrong with a model request, as classes with one policy each (docs/model-failures.md). `transient` ones are
 * tried again by the workflow's ladder; the others need a person.
 */
export type FailureClass =
  | 'overloaded'
  /** Too many requests or tokens for now, or a usage limit that is over at a stated time. */
  | 'rate_limit'
  | 'server_error'
  /** No connection, or it was lost: names, sockets. */
  | 'connection'
  /** The stream ended before the answer did. */
  | 'cut'
  /** Nothing came for the idle limit. */
  | 'stalled'
  /** The stream was open for longer than the cap. */
  | 'too_long'
  /** Something answered, but not with a stream of the Messages API. */
  | 'bad_response'
  | 'auth'
  /** No credit, or a limit that only a person can raise. */
  | 'billing'
  /** The certificate is not trusted, or there is no TLS at all. */
  | 'tls'
  /** What is at the provider's address is no Messages API. */
  | 'address'
  | 'not_found'
  | 'too_large'
  | 'context_window'
  | 'bad_request'
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
  /** The provider's own id of the request, for its support. */
  requestId?: string;
  /** Content had arrived, so that this try has cost something. */
  paid?: true;
}

/** What happened, for people, with what the provider's support asks for. */
export function failureText({ message, requestId }: ProviderFailure): string {
  return requestId === undefined ? message : `${message} (request ${requestId})`;
}

/** What a person can do about a failure that no retry mends; undefined where trying again is all there is. */
export function remedyFor({ class: kind }: ProviderFailure): string | undefined {
  switch (kind) {
    case 'auth':
      return 'Correct the key or the access, then answer "yes".';
    case 'billing':
      return 'Add credit or raise the limit, then answer "yes".';
    case 'tls':
      return 'Correct the address, the clock or the trusted certificates (NODE_EXTRA_CA_CERTS), then answer "yes".';
    case 'address':
      return 'Correct ANTHROPIC_BASE_URL, then answer "yes".';
    case 'not_found':
      return 'Check the model id and the address, then answer "yes".';
    case 'too_large':
    case 'context_window':
      return 'Take the conversation back to an earlier message, or begin a new task with what is left to do.';
    case 'bad_request':
      return 'Take the conversation back to an earlier message, or put the task differently with a text.';
    case 'internal':
      return 'Answer "yes" to ask again; please report it with the worker\'s log.';
    case 'overloaded':
    case 'rate_limit':
    case 'server_error':
    case 'connection':
    case 'cut':
    case 'stalled':
    case 'too_long':
    case 'bad_response':
      return undefined;
  }
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
    case 'billing':
    case 'tls':
    case 'address':
    case 'not_found':
    case 'too_large':
    case 'context_window':
    case 'bad_request':
    case 'internal':
      return false;
  }
}

/** Why an answer ended, in the words of the Messages API. */
export const STOP_REASONS = [
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
] as const;
export type StopReason = (typeof STOP_REASONS)[number];

/** Error types of the Messages API, each with its HTTP status. */
export const ERROR_STATUS = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
} as const;
export type ErrorType = keyof typeof ERROR_STATUS;

/** Token counts that replace the estimated ones. */
export interface UsageNumbers {
  input_tokens?: number;
  cache_creation_input_tokens?: number;
  cache_read_input_tokens?: number;
  /** Cumulative, as reported at the end. */
  output_tokens?: number;
}

/** A block of the answer. With `half`, only its first half is streamed and it stays open until another step closes it. */
export type ContentStep =
  | { step: 'say'; text: string; half?: boolean }
  | { step: 'think'; text: string; half?: boolean }
  | { step: 'redacted'; data: string }
  | { step: 'call'; name: string; input: Record<string, unknown>; id?: string; half?: boolean }
  /** Arguments streamed as given, which need not be JSON. */
  | { step: 'callraw'; name: string; json: string; id?: string; half?: boolean }
  /** A tool call that the provider would run itself; stays open, without a result. */
  | { step: 'server'; name: string; input: Record<string, unknown> };

export type FlowStep =
  /** Any event, sent as it is. */
  | { step: 'raw'; event: Record<string, unknown> }
  /** Time between the deltas from here to the end of the answer. */
  | { step: 'pace'; ms: number }
  | { step: 'delay'; ms: number }
  /** `times` pings, each after `everyMs` of silence. */
  | { step: 'ping'; times: number; everyMs: number }
  | { step: 'usage'; usage: UsageNumbers };

/**
 * What ends an answer. With `strikes` it does so only for the first so many requests of its turn, counted for each
 * conversation; after that it is skipped, and the answer goes on with the steps behind it.
 */
export type EndStep = { strikes?: number } & (
  | { step: 'finish'; reason?: StopReason }
  | { step: 'empty' }
  /** TCP reset. */
  | { step: 'cut' }
  /** The body ends cleanly, without `message_stop`. */
  | { step: 'close' }
  /** Silence on an open connection. */
  | { step: 'stall' }
  /** An HTTP error instead of an answer. `message` replaces the usual one. */
  | { step: 'status'; status: number; headers?: Record<string, string>; message?: string }
  /** An `error` event in the stream, after HTTP 200. */
  | { step: 'error'; type: ErrorType; message?: string }
  /** A proxy's HTML page instead of an answer. */
  | { step: 'html'; status: number }
);

export type Step = ContentStep | FlowStep | EndStep;

/** Of a content step. */
export interface Options {
  half?: boolean;
  id?: string;
}

export function say(text: string, options: Pick<Options, 'half'> = {}): ContentStep {
  return { step: 'say', text, ...options };
}

export function think(text: string, options: Pick<Options, 'half'> = {}): ContentStep {
  return { step: 'think', text, ...options };
}

export function redacted(data: string): ContentStep {
  return { step: 'redacted', data };
}

/** @param options `id`: the provider's id of the call, otherwise derived from the conversation */
export function call(name: string, input: Record<string, unknown> = {}, options: Options = {}): ContentStep {
  return { step: 'call', name, input, ...options };
}

/** @param json arguments as streamed, valid or not */
export function callraw(name: string, json: string, options: Options = {}): ContentStep {
  return { step: 'callraw', name, json, ...options };
}

export function server(name: string, input: Record<string, unknown> = {}): ContentStep {
  return { step: 'server', name, input };
}

export function raw(event: Record<string, unknown>): FlowStep {
  return { step: 'raw', event };
}

export function pace(ms: number): FlowStep {
  return { step: 'pace', ms };
}

export function delay(ms: number): FlowStep {
  return { step: 'delay', ms };
}

export function ping(times = 1, everyMs = 0): FlowStep {
  return { step: 'ping', times, everyMs };
}

export function usage(numbers: UsageNumbers): FlowStep {
  return { step: 'usage', usage: numbers };
}

/** @param reason without it: `tool_use` when the answer holds a call, else `end_turn` */
export function finish(reason?: StopReason, strikes?: number): EndStep {
  return { step: 'finish', ...(reason && { reason }), ...limit(strikes) };
}

export function empty(strikes?: number): EndStep {
  return { step: 'empty', ...limit(strikes) };
}

export function cut(strikes?: number): EndStep {
  return { step: 'cut', ...limit(strikes) };
}

export function close(strikes?: number): EndStep {
  return { step: 'close', ...limit(strikes) };
}

export function stall(strikes?: number): EndStep {
  return { step: 'stall', ...limit(strikes) };
}

/** @param message in place of the usual one */
export function status(
  code: number,
  headers: Record<string, string> = {},
  strikes?: number,
  message?: string,
): EndStep {
  return { step: 'status', status: code, headers, ...limit(strikes), ...(message !== undefined && { message }) };
}

/** @param message in place of the usual one */
export function error(type: ErrorType, strikes?: number, message?: string): EndStep {
  return { step: 'error', type, ...limit(strikes), ...(message !== undefined && { message }) };
}

export function overloaded(strikes?: number): EndStep {
  return error('overloaded_error', strikes);
}

export function html(code: number, strikes?: number): EndStep {
  return { step: 'html', status: code, ...limit(strikes) };
}

export function isEnd(step: Step): step is EndStep {
  switch (step.step) {
    case 'finish':
    case 'empty':
    case 'cut':
    case 'close':
    case 'stall':
    case 'status':
    case 'error':
    case 'html':
      return true;
    default:
      return false;
  }
}

export function isContent(step: Step): step is ContentStep {
  switch (step.step) {
    case 'say':
    case 'think':
    case 'redacted':
    case 'call':
    case 'callraw':
    case 'server':
      return true;
    default:
      return false;
  }
}

function limit(strikes: number | undefined): { strikes?: number } {
  return strikes === undefined ? {} : { strikes };
}

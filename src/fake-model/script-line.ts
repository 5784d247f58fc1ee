import { type EndStep, ERROR_STATUS, type ErrorType, STOP_REASONS, type Step, type StopReason } from './steps.js';

/**
 * Reads one step from its first word and the rest of its line.
 * @throws Error saying what is wrong, without the line number
 */
export function parseStep(word: string, rest: string): Step {
  switch (word) {
    case 'say':
    case 'think':
      return { step: word, text: readText(word, rest) };
    case 'redacted':
      return { step: 'redacted', data: readText(word, rest) };
    case 'call':
    case 'server': {
      const [name, json] = splitName(word, rest);
      return { step: word, name, input: json === '' ? {} : readObject(json) };
    }
    case 'callraw': {
      const [name, json] = splitName(word, rest);
      return { step: 'callraw', name, json };
    }
    case 'raw':
      return { step: 'raw', event: readEvent(rest) };
    case 'pace':
    case 'delay':
      return { step: word, ms: readDuration(rest) };
    case 'ping':
      return readPing(rest);
    case 'usage':
      return { step: 'usage', usage: readUsage(rest) };
    default:
      return readEnd(word, rest);
  }
}

function readEnd(word: string, whole: string): EndStep {
  const [rest, message] = word === 'status' || word === 'error' ? splitMessage(whole) : [whole];
  const words = rest.split(/\s+/).filter((w) => w !== '');
  const strikes = takeStrikes(words);
  const more = { ...(strikes === undefined ? {} : { strikes }), ...(message === undefined ? {} : { message }) };
  switch (word) {
    case 'finish': {
      const reason = words.shift();
      nothingMore(word, words);
      if (reason === undefined) return { step: 'finish', ...more };
      if (!isStopReason(reason)) throw new Error(`"${reason}" is not a stop reason (${STOP_REASONS.join(', ')})`);
      return { step: 'finish', reason, ...more };
    }
    case 'max_tokens':
    case 'refusal':
    case 'pause_turn':
      nothingMore(word, words);
      return { step: 'finish', reason: word, ...more };
    case 'empty':
    case 'cut':
    case 'close':
    case 'stall':
      nothingMore(word, words);
      return { step: word, ...more };
    case 'overloaded':
      nothingMore(word, words);
      return { step: 'error', type: 'overloaded_error', ...more };
    case 'error': {
      const type = words.shift() ?? '';
      nothingMore(word, words);
      if (!isErrorType(type)) throw new Error(`"error" needs one of ${Object.keys(ERROR_STATUS).join(', ')}`);
      return { step: 'error', type, ...more };
    }
    case 'status':
      return { step: 'status', status: readStatus(word, words.shift()), headers: readHeaders(words), ...more };
    case 'html': {
      const status = readStatus(word, words.shift());
      nothingMore(word, words);
      return { step: 'html', status, ...more };
    }
    default:
      throw new Error(`"${word}" is not a step`);
  }
}

/** A text is the rest of the line, or a JSON string, which may hold line breaks and may be empty. */
function readText(word: string, rest: string): string {
  if (rest === '') throw new Error(`"${word}" needs a text; for an empty one write ${word} ""`);
  if (!rest.startsWith('"') || !rest.endsWith('"') || rest.length < 2) return rest;
  try {
    const value: unknown = JSON.parse(rest);
    return typeof value === 'string' ? value : rest;
  } catch {
    return rest;
  }
}

/** What stands behind ` : ` is the error's message. */
function splitMessage(rest: string): [string, string?] {
  const at = ` ${rest}`.indexOf(' : ');
  return at < 0 ? [rest] : [rest.slice(0, at), readText('the message', rest.slice(at + 2).trim())];
}

function splitName(word: string, rest: string): [string, string] {
  const [, name, json = ''] = /^(\S+)\s*(.*)$/.exec(rest) ?? [];
  if (name === undefined || name.startsWith('{')) throw new Error(`"${word}" needs the name of a tool`);
  return [name, json];
}

function readObject(json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (err) {
    throw new Error(`not JSON: ${(err as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('a JSON object is needed');
  return value as Record<string, unknown>;
}

function readEvent(json: string): Record<string, unknown> {
  const event = readObject(json);
  if (typeof event.type !== 'string') throw new Error('"raw" needs an event with a "type"');
  return event;
}

/** @returns ms */
function readDuration(text: string): number {
  const [, amount, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text.trim()) ?? [];
  if (amount === undefined) throw new Error(`"${text}" is not a time such as 200ms, 15s, 4m or 1h`);
  const factor = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit as 'ms' | 's' | 'm' | 'h'];
  return Math.round(Number(amount) * factor);
}

function readPing(rest: string): Step {
  const [times = '1', every, ...more] = rest.split(/\s+/).filter((w) => w !== '');
  if (!/^[1-9]\d{0,5}$/.test(times)) throw new Error('"ping" needs a number of pings and a time, such as ping 4 15s');
  nothingMore('ping', more);
  return { step: 'ping', times: Number(times), everyMs: every === undefined ? 0 : readDuration(every) };
}

const USAGE_KEYS = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'];

function readUsage(rest: string): Record<string, number> {
  const numbers = readObject(rest);
  for (const [key, value] of Object.entries(numbers)) {
    if (!USAGE_KEYS.includes(key)) throw new Error(`"${key}" is not a usage number (${USAGE_KEYS.join(', ')})`);
    if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Error(`"${key}" needs a whole number`);
  }
  return numbers as Record<string, number>;
}

function readStatus(word: string, text: string | undefined): number {
  const status = Number(text);
  if (!Number.isInteger(status) || status < 400 || status > 599)
    throw new Error(`"${word}" needs an HTTP error status`);
  return status;
}

function readHeaders(words: string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const word of words) {
    const [, name, value] = /^([A-Za-z0-9-]+)=(.+)$/.exec(word) ?? [];
    if (name === undefined) throw new Error(`"${word}" is not a header such as retry-after=2`);
    headers[name.toLowerCase()] = value as string;
  }
  return headers;
}

/** Takes `xN` out of the words of an end. */
function takeStrikes(words: string[]): number | undefined {
  const at = words.findIndex((word) => /^x[1-9]\d{0,5}$/.test(word));
  if (at < 0) return undefined;
  return Number((words.splice(at, 1)[0] as string).slice(1));
}

function nothingMore(word: string, words: string[]): void {
  if (words.length > 0) throw new Error(`"${word}" does not take "${words.join(' ')}"`);
}

function isStopReason(text: string): text is StopReason {
  return (STOP_REASONS as readonly string[]).includes(text);
}

function isErrorType(text: string): text is ErrorType {
  return Object.hasOwn(ERROR_STATUS, text);
}

import type { AttachmentsRef } from './attachments.js';
import { readBlobRef, type TextRef } from './blocks.js';
import { nearest } from './nearest.js';
import { cut, utf8Bytes } from './text.js';

/** Kinds of question, with the names of the original's `ask` entries. */
export const ASK_KINDS = [
  'followup',
  'plan_mode_respond',
  'tool',
  'command',
  'mistake_limit_reached',
  'api_req_failed',
  'budget_limit_reached',
] as const;
export type AskKind = (typeof ASK_KINDS)[number];

/** What becomes of an ask that nobody answers. */
export interface AskPolicy {
  /** ms from its opening until `default` is taken; absent: it waits for ever. */
  deadlineMs?: number;
  /** Default `no`. */
  default?: 'yes' | 'no';
  /** ms from its opening, and from each reminder, to the next one; absent: none. */
  remindMs?: number;
}

/** Shortest time to a deadline and between reminders, ms. */
export const MIN_ASK_MS = 60_000;

/** By kind; `all` holds for the kinds that have none of their own. */
export type AskPolicies = { [kind in AskKind | 'all']?: AskPolicy };

/** An open question to a person. Lives in workflow state until it is answered or its deadline passes. */
export interface Ask {
  /** Random; an answer that allows an effect must carry it. */
  id: string;
  kind: AskKind;
  /** One line for lists and for the Temporal UI, at most 300 characters. */
  question: string;
  options?: string[];
  /** The full payload where the question alone is not enough: a diff, a command, a long question. */
  detail?: TextRef;
  /** The call it is about, for `tool` and `command`. */
  call?: string;
  /** ms since the epoch */
  opened: number;
  /** ms since the epoch; at that time `default` is taken */
  deadline?: number;
  default?: 'yes' | 'no';
  /** ms between reminders */
  remindMs?: number;
}

/** What an answer says. Text typed with any button is used. */
export interface Answer {
  ask?: string;
  answer: 'yes' | 'no' | 'message';
  text?: string;
  /** Text over 4 KB is put into the journal by the client. */
  textRef?: { blob: string; bytes: number };
  /** Images and files, put into the journal by the client. */
  attachments?: AttachmentsRef;
  /** Makes a repeated delivery harmless, also across continue-as-new. */
  clientId?: string;
  /** Provider profile to use from now on; only read by `api_req_failed`. */
  profile?: string;
  /** Who decided: a person unless it says otherwise. */
  by?: 'person' | 'default';
  /** Name of the person, as the client knows it; at most 100 characters. */
  who?: string;
  /** Where it was given; absent: straight from Temporal. */
  from?: AnswerSource;
}

export const ANSWER_SOURCES = ['cli', 'library', 'web'] as const;
export type AnswerSource = (typeof ANSWER_SOURCES)[number];

/** An answer that could not be taken. `reason` is stable, `message` is for people. */
export interface Refusal {
  reason: 'malformed' | 'no_open_ask' | 'stale_ask' | 'already_answered' | 'needs_id' | 'ambiguous' | 'too_long';
  message: string;
}

/** Longest text that an answer or message may carry by value, bytes of UTF-8; more goes through a client, by reference. */
export const MAX_INLINE_ANSWER = 4096;

/** Longest id of an ask that is read, characters; ours are shorter. */
const MAX_ASK_ID = 100;

/** Kinds that a bare answer may settle when they are the only open ask: none of them lets an effect happen. */
const ANSWERED_WITHOUT_ID: readonly AskKind[] = [
  'followup',
  'plan_mode_respond',
  'mistake_limit_reached',
  'api_req_failed',
];

const ANSWER_KEYS: readonly string[] = [
  'ask',
  'answer',
  'text',
  'textRef',
  'attachments',
  'clientId',
  'profile',
  'by',
  'who',
  'from',
] satisfies (keyof Answer)[];

/**
 * Reads what a person sent: an object, or a bare string (`"yes"`, `"no"`, or the text of a message).
 * A JSON object that arrives as a string is read as the object it is.
 */
export function readAnswer(raw: unknown): { answer: Answer } | { refusal: Refusal } {
  if (typeof raw === 'string') return readBareAnswer(raw);
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw)) {
    return malformed('an answer is one JSON object such as {"ask":"ID","answer":"yes"}, or a text');
  }
  const { images, files, ...given } = raw as Record<string, unknown>;
  if (images !== undefined || files !== undefined) {
    return malformed('images and files are given with `longhaul answer --image FILE --file FILE`');
  }
  const unknown = Object.keys(given).find((key) => !ANSWER_KEYS.includes(key));
  if (unknown !== undefined) {
    const near = nearest(unknown, ANSWER_KEYS);
    const meant = near === undefined ? '' : ` (did you mean "${near}"?)`;
    return malformed(`there is no "${cut(unknown, 60)}" in an answer${meant}`);
  }
  const { ask, answer, text, textRef, attachments, clientId, profile, by, who, from } = given;
  for (const [name, value] of Object.entries({ ask, text, clientId, profile, who })) {
    if (value !== undefined && typeof value !== 'string') return malformed(`"${name}" must be a string`);
  }
  // a refusal repeats it, and Temporal fails the whole workflow task for one that is too large
  if (typeof ask === 'string' && ask.length > MAX_ASK_ID) return malformed('"ask" is too long for the id of an ask');
  const ref = readBlobRef(textRef);
  if (textRef !== undefined && !ref) return malformed('"textRef" must be {"blob":"SHA-256","bytes":N}');
  if (by !== undefined && by !== 'person' && by !== 'default') return malformed('"by" must be "person" or "default"');
  const attached = readBlobRef(attachments);
  if (attachments !== undefined && !attached) return malformed('"attachments" must be {"blob":"SHA-256","bytes":N}');
  const source = ANSWER_SOURCES.find((one) => one === from);
  if (from !== undefined && !source) return malformed(`"from" must be one of ${ANSWER_SOURCES.join(', ')}`);
  const hasContent = text !== undefined || textRef !== undefined || attached !== undefined;
  const said = answer ?? (hasContent ? 'message' : undefined);
  const kind = typeof said === 'string' ? buttonOf(said) : undefined;
  if (!kind) return malformed('"answer" must be "yes", "no" or "message"; words go into "text"');
  const result: Answer = { answer: kind };
  if (typeof ask === 'string' && ask !== '') result.ask = ask;
  const words = text as string | undefined;
  if (words !== undefined && words.trim() !== '') result.text = words;
  if (ref) result.textRef = ref;
  if (typeof clientId === 'string') result.clientId = clientId.slice(0, 100);
  if (typeof profile === 'string') result.profile = profile.slice(0, 100);
  if (by !== undefined) result.by = by;
  if (attached) result.attachments = attached;
  if (typeof who === 'string' && who.trim() !== '') result.who = cut(who.trim(), 100);
  if (source) result.from = source;
  const isEmpty = result.text === undefined && !ref && !attached;
  if (result.answer === 'message' && isEmpty) return malformed('"message" needs "text"');
  return tooLong(result.text) ?? { answer: result };
}

/** Which of the open asks the answer settles, or why none. Pure and synchronous: it serves an update validator. */
export function findAsk(
  answer: Answer,
  open: readonly Ask[],
  settled: readonly string[],
): { ask: Ask } | { refusal: Refusal } {
  if (answer.ask !== undefined) {
    const ask = open.find((one) => one.id === answer.ask);
    if (ask) return { ask };
    if (settled.includes(answer.ask)) {
      return { refusal: { reason: 'already_answered', message: `Ask ${answer.ask} has been answered already.` } };
    }
    const now = open.length === 0 ? 'No ask is open.' : `Open now: ${open.map((one) => one.id).join(', ')}.`;
    return { refusal: { reason: 'stale_ask', message: `There is no open ask ${answer.ask}. ${now}` } };
  }
  const [only] = open;
  if (!only) return { refusal: { reason: 'no_open_ask', message: 'No ask is open; use `send` to leave a message.' } };
  if (open.length > 1) {
    const ids = open.map((one) => one.id).join(', ');
    return { refusal: { reason: 'ambiguous', message: `Several asks are open; name one of ${ids} as "ask".` } };
  }
  if (!ANSWERED_WITHOUT_ID.includes(only.kind)) {
    const example = JSON.stringify({ ask: only.id, answer: 'yes|no' });
    return {
      refusal: { reason: 'needs_id', message: `This ask allows an effect, so its answer needs its id: ${example}` },
    };
  }
  return { ask: only };
}

function readBareAnswer(raw: string): { answer: Answer } | { refusal: Refusal } {
  const text = raw.trim();
  if (text === '') return malformed('the answer is empty');
  if (text.startsWith('{')) {
    try {
      return readAnswer(JSON.parse(text));
    } catch {
      return malformed('the answer looks like JSON but does not parse');
    }
  }
  const kind = buttonOf(text);
  if (kind && kind !== 'message') return { answer: { answer: kind } };
  return tooLong(raw) ?? { answer: { answer: 'message', text: raw } };
}

function buttonOf(word: string): Answer['answer'] | undefined {
  switch (word.trim().toLowerCase()) {
    case 'yes':
    case 'yesbuttonclicked':
      return 'yes';
    case 'no':
    case 'nobuttonclicked':
      return 'no';
    case 'message':
    case 'messageresponse':
      return 'message';
    default:
      return undefined;
  }
}

function tooLong(text: string | undefined): { refusal: Refusal } | undefined {
  const bytes = text === undefined ? 0 : utf8Bytes(text);
  if (bytes <= MAX_INLINE_ANSWER) return undefined;
  const message = `The text has ${bytes} bytes, ${MAX_INLINE_ANSWER} at most; send it with \`longhaul answer\`.`;
  return { refusal: { reason: 'too_long', message } };
}

function malformed(why: string): { refusal: Refusal } {
  return { refusal: { reason: 'malformed', message: `The answer was not understood: ${why}.` } };
}

import { TaskClient } from '../client.js';
import { type Answer, type Ask, findAsk, readAnswer } from '../domain/asks.js';
import { LonghaulError } from '../domain/errors.js';
import { hasProfile, unknownProfile } from '../model/named-profiles.js';
import { givenAnswer, pickOption, readTyped, refuses } from './asking.js';
import { type AttachFlags, attachedBy, attachesAny } from './attach-flags.js';
import { INSTALLED, quoted } from './called-as.js';
import { badFlag } from './flags.js';
import { type Io, printJson, printLine } from './io.js';
import { Starting } from './starting.js';

export interface AnswerFlags extends AttachFlags {
  text?: string;
  profile?: string;
  json?: boolean;
}

/** `answer ID [ASK] yes|no|"TEXT"`. @returns the exit code */
export async function answerCommand(
  io: Io,
  home: string,
  prefix: string,
  words: string[],
  flags: AnswerFlags,
): Promise<number> {
  const said = readWords(words, flags.text, attachesAny(flags));
  const starting = new Starting(io);
  const client = await TaskClient.local({ home, env: io.env, from: 'cli', ...starting.reports });
  try {
    const task = await client.resolve(prefix);
    const open = await client.openAsks(task);
    const asTyped = flags.text === undefined && !isJson(words);
    const answer = fitted(said, open, asTyped);
    refuseWithoutId(answer, open, (ask) => answerWithId(task, ask, answer, words, flags));
    if (flags.profile !== undefined) answer.profile = profileFor(home, answer, open, flags.profile);
    const receipt = await starting.until(client.answer(task, answer, attachedBy(io, flags)));
    if (flags.json) printJson(io, { type: 'answer', task, ask: receipt.ask ?? null, state: receipt.state });
    else if (receipt.state === 'delivered') printLine(io, deliveredWords(answer, open, receipt.ask));
    else printLine(io, 'Left for the task: no worker is there to take it now, one will when it is back.');
    return 0;
  } finally {
    await client.close();
  }
}

/**
 * An answer that needs the id of its ask, and has none, is not sent.
 *
 * @param withId the command that gives the same answer to this ask
 * @throws LonghaulError `ask-refused`
 */
export function refuseWithoutId(answer: Answer, open: readonly Ask[], withId: (ask: Ask) => string): void {
  if (answer.ask !== undefined) return;
  const found = findAsk(answer, open, []);
  if (!('refusal' in found)) return;
  const { reason } = found.refusal;
  if (reason !== 'needs_id' && reason !== 'ambiguous') return;
  const why =
    reason === 'needs_id'
      ? 'This ask allows an effect, so its answer needs its id.'
      : 'Several asks are open, so an answer needs the id of one.';
  throw new LonghaulError('ask-refused', why, {
    kept: 'Nothing was sent; the task is as it was.',
    next: open.map((ask) => `\`${withId(ask)}\``).join(' or '),
  });
}

/** The command as it was typed, with the id that it lacks. */
function answerWithId(
  task: string,
  { id }: Ask,
  answer: Answer,
  words: readonly string[],
  { text, profile, image = [], file = [] }: AnswerFlags,
): string {
  if (isJson(words)) return givenAnswer({ ...answer, ask: id }, task, INSTALLED);
  const given = [
    ['text', text],
    ['profile', profile],
    ...image.map((one) => ['image', one]),
    ...file.map((one) => ['file', one]),
  ];
  const more = given.flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}`, quoted(value)]));
  return [INSTALLED, 'answer', task, id, ...words.map(quoted), ...more].join(' ');
}

/** Only a request that has failed can be made again with another profile. @throws LonghaulError `bad-flag`, `profile-unknown` */
function profileFor(home: string, answer: Answer, open: readonly Ask[], name: string): string {
  const kinds = open.filter(({ id }) => answer.ask === undefined || answer.ask === id).map(({ kind }) => kind);
  if (kinds.length > 0 && !kinds.includes('api_req_failed')) {
    throw badFlag(
      '--profile goes with the answer to a failed model request, and this ask is none.',
      'Leave --profile out; to change the settings of a profile, use `longhaul profile save NAME`.',
    );
  }
  if (hasProfile(home, name)) return name;
  throw unknownProfile(name);
}

/**
 * Reads the words after the task id: an optional ask id, then `yes`, `no`, a text, or an answer's JSON. With `--text`, or
 * with something attached, the answer itself may be left out.
 * @throws LonghaulError `bad-flag`, `bad-answer`
 */
export function readWords(words: readonly string[], text?: string, attaches = false): Answer {
  const [first, second, ...more] = words;
  if (more.length > 0) {
    throw badFlag('answer takes a task id, at most one ask id, and the answer.', 'Put quotes around a text.');
  }
  if (text !== undefined && text.trim() === '') throw emptyAnswer('--text is empty.');
  if (attaches && text === undefined && second === undefined && (first === undefined || isAskId(first))) {
    return { ...(first !== undefined && { ask: first }), answer: 'message' };
  }
  if (first === undefined) {
    if (text === undefined) throw badFlag('There is no answer.', 'Say `longhaul answer ID [ASK] yes|no|"TEXT"`.');
    return { answer: 'message', text };
  }
  if (second === undefined) return readOne(first, text);
  // no ask has such an id: the text goes with it, as with --text
  if (/^(yes|no)$/i.test(first) && text === undefined) return readSaid(first, second);
  return { ask: first, ...readSaid(second, text) };
}

/** Nobody says such a word to a model. */
function isAskId(word: string): boolean {
  return /^ask-[0-9a-f]{1,8}$/.test(word);
}

/** A word alone is the answer, or with `--text` the id of the ask that the text answers. */
function readOne(word: string, text: string | undefined): Answer {
  if (isJson([word])) {
    if (text !== undefined) throw badFlag('--text does not go with JSON.', 'Put the text into the JSON.');
    return fromJson(word);
  }
  const said = word.trim().toLowerCase();
  if (text !== undefined && said !== '' && said !== 'yes' && said !== 'no')
    return { ask: word, answer: 'message', text };
  return readSaid(word, text);
}

/** An answer alone that is written as JSON says all that it means. */
function isJson([word = '', ...more]: readonly string[]): boolean {
  return more.length === 0 && word.trim().startsWith('{');
}

function readSaid(said: string, text: string | undefined): Answer {
  const word = said.trim().toLowerCase();
  if (word === '') throw emptyAnswer('The answer is empty.');
  if (word === 'yes' || word === 'no') return { answer: word, ...(text === undefined ? {} : { text }) };
  if (text !== undefined) {
    throw badFlag('--text goes with yes or no, or stands for the answer.', 'Leave out one of the two texts.');
  }
  return { answer: 'message', text: said };
}

function emptyAnswer(message: string): LonghaulError {
  return badAnswer(message, 'Say yes, no, or a text.');
}

function badAnswer(message: string, next: string): LonghaulError {
  return new LonghaulError('bad-answer', message, { kept: 'The ask stays open.', next });
}

function fromJson(said: string): Answer {
  const read = readAnswer(said);
  if ('answer' in read) return read.answer;
  throw badAnswer(read.refusal.message, 'Give yes, no, a text, or JSON such as {"ask":"ID","answer":"yes"}.');
}

/**
 * Completes an ask id given by its beginning, and reads a text as people mean it at a prompt: the number of an option, `y`
 * or `n`. A followup takes "yes" and "no" as the texts they are.
 *
 * @param read false: the text is meant as it stands
 * @throws LonghaulError `bad-answer` for a number that names no option, and for what is nearly yes or no
 */
export function fitted(answer: Answer, open: readonly Ask[], read: boolean): Answer {
  const { ask } = answer;
  const matching = ask === undefined ? open : open.filter((one) => one.id.startsWith(ask));
  const [only, second] = matching;
  if (!only || second) return answer;
  const named = ask === undefined ? answer : { ...answer, ask: only.id };
  if (named.answer !== 'message') {
    if (only.kind !== 'followup') return named;
    return { ...named, answer: 'message', text: named.text ?? named.answer };
  }
  if (!read || named.text === undefined) return named;
  const asIs = 'Use --text to send the text as it stands.';
  const picked = pickOption(only, named.text);
  if (picked && 'problem' in picked) throw badAnswer(picked.problem, `Give one of those numbers. ${asIs}`);
  if (picked) return { ...named, text: picked.option };
  const typed = readTyped(only, named.text);
  if (typeof typed === 'string') throw badAnswer(`"${named.text}" is neither yes nor no.`, `Say yes or no. ${asIs}`);
  if (typed.answer === 'message') return named;
  const { text: _, ...rest } = named;
  return { ...rest, answer: typed.answer, ...(typed.text === undefined ? {} : { text: typed.text }) };
}

function deliveredWords(answer: Answer, open: readonly Ask[], id: string | undefined): string {
  const ask = open.find((one) => one.id === (id ?? answer.ask));
  const words = `Answered ${id ?? answer.ask ?? ''}`.trimEnd();
  return ask && refuses(ask.kind, answer.answer) ? `${words}: not done; the model gets the text.` : `${words}.`;
}

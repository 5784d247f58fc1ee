import { TaskClient } from '../client.js';
import { type Answer, type Ask, readAnswer } from '../domain/asks.js';
import { LonghaulError } from '../domain/errors.js';
import { badFlag } from './flags.js';
import { type Io, printJson, printLine } from './io.js';

export interface AnswerFlags {
  text?: string;
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
  const said = readWords(words, flags.text);
  const client = await TaskClient.local({ home, env: io.env });
  try {
    const task = await client.resolve(prefix);
    const answer = fitted(said, await client.openAsks(task));
    const receipt = await client.answer(task, answer);
    if (flags.json) printJson(io, { type: 'answer', task, ask: receipt.ask ?? null, state: receipt.state });
    else if (receipt.state === 'delivered') printLine(io, `Answered ${receipt.ask ?? answer.ask ?? ''}`.trimEnd());
    else printLine(io, 'Left for the task: no worker is there to take it now, one will when it is back.');
    return 0;
  } finally {
    await client.close();
  }
}

/**
 * Reads the words after the task id: an optional ask id, then `yes`, `no`, a text, or an answer's JSON.
 * @throws LonghaulError `bad-flag`, `bad-answer`
 */
export function readWords(words: readonly string[], text?: string): Answer {
  const [first, second, ...more] = words;
  if (first === undefined || more.length > 0) {
    throw badFlag('answer takes a task id, at most one ask id, and the answer; put quotes around a text.');
  }
  const ask = second === undefined ? undefined : first;
  const said = second ?? first;
  if (ask === undefined && said.trim().startsWith('{')) return fromJson(said);
  const word = said.trim().toLowerCase();
  if (word === '') throw new LonghaulError('bad-answer', 'The answer is empty.', { next: 'Say yes, no, or a text.' });
  const id = ask === undefined ? {} : { ask };
  if (word === 'yes' || word === 'no') return { ...id, answer: word, ...(text === undefined ? {} : { text }) };
  if (text !== undefined) throw badFlag('--text goes with yes or no; a text alone is an answer by itself.');
  return { ...id, answer: 'message', text: said };
}

function fromJson(said: string): Answer {
  const read = readAnswer(said);
  if ('answer' in read) return read.answer;
  throw new LonghaulError('bad-answer', read.refusal.message, {
    kept: 'The ask stays open.',
    next: 'Give yes, no, a text, or JSON such as {"ask":"ID","answer":"yes"}.',
  });
}

/** Completes an ask id given by its beginning; a followup takes "yes" and "no" as the texts they are. */
function fitted(answer: Answer, open: readonly Ask[]): Answer {
  const { ask } = answer;
  const matching = ask === undefined ? open : open.filter((one) => one.id.startsWith(ask));
  const [only, second] = matching;
  if (!only || second) return answer;
  const named = ask === undefined ? answer : { ...answer, ask: only.id };
  if (only.kind !== 'followup' || named.answer === 'message') return named;
  return { ...named, answer: 'message', text: named.text ?? named.answer };
}

import { setHandler } from '@temporalio/workflow';
import { type Answer, findAsk, type Refusal, readAnswer } from '../../domain/asks.js';
import type { AnswerReply } from '../../domain/replies.js';
import { answerSignal, answerUpdate } from '../definitions.js';
import type { OpenAsk, Task } from '../state.js';
import { refused } from './refuse.js';

/** Answers to asks, as an update and as a signal. */
export function handleAnswers(task: Task): void {
  setHandler(answerUpdate, (raw) => takeAnswer(task, raw), {
    validator: (raw) => {
      const found = judgeAnswer(task, raw);
      if ('refusal' in found) throw refused('AskRefused', found.refusal.message, found.refusal.reason);
    },
    description: 'Answers an open ask. One argument: {"ask":"ask-1a2b3c4d","answer":"yes","text":"optional"}',
  });
  setHandler(answerSignal, (raw) => void takeAnswer(task, raw), {
    description: 'The same as the update "answer", for when no worker is up. An answer that does not fit is ignored.',
  });
}

type Judged = { open: OpenAsk; answer: Answer } | { duplicate: true } | { refusal: Refusal };

function judgeAnswer(task: Task, raw: unknown): Judged {
  const read = readAnswer(raw);
  if ('refusal' in read) return read;
  const { answer } = read;
  if (task.hasSeen(answer.clientId)) return { duplicate: true };
  const waiting = task.asks.filter((open) => open.settled === undefined);
  const settled = task.asks.filter((open) => open.settled !== undefined).map(({ ask }) => ask.id);
  const found = findAsk(
    answer,
    waiting.map(({ ask }) => ask),
    [...task.carried.settledAsks, ...settled],
  );
  if ('refusal' in found) return found;
  return { open: waiting.find(({ ask }) => ask.id === found.ask.id)!, answer };
}

function takeAnswer(task: Task, raw: unknown): AnswerReply {
  const judged = judgeAnswer(task, raw);
  if ('refusal' in judged) return { ask: '', duplicate: false };
  if ('duplicate' in judged) return { ask: '', duplicate: true };
  const { open, answer } = judged;
  open.settled = { answer, by: answer.by ?? 'person' };
  task.remember(answer.clientId);
  return { ask: open.ask.id, duplicate: false };
}

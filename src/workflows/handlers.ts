import { ApplicationFailure, setHandler } from '@temporalio/workflow';
import { type Answer, findAsk, MAX_INLINE_ANSWER, type Refusal, readAnswer } from '../domain/asks.js';
import { readBlobRef, type TextRef } from '../domain/blocks.js';
import type { AnswerReply, RefusalType, SendReply } from '../domain/replies.js';
import { utf8Bytes } from '../domain/text.js';
import { answerSignal, answerUpdate, callReady, sendUpdate, statusQuery } from './definitions.js';
import type { OpenAsk, Task } from './state.js';

/** Messages that may wait for the next request. */
const MAX_QUEUED = 30;
/** Bytes that waiting messages may hold by value in all; clients send longer ones by reference. */
const MAX_QUEUED_TEXT = 2 * MAX_INLINE_ANSWER;

/**
 * Registers all ways into a task, before anything is awaited. Handlers are synchronous: what they accept is in the state
 * when they return, and validators refuse without a trace in the history.
 */
export function registerHandlers(task: Task): void {
  setHandler(callReady, (ready) => task.inbox?.receive(ready), {
    description: 'Sent by the worker while an answer streams; not for people.',
  });
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
  setHandler(sendUpdate, (raw) => takeMessage(task, raw), {
    validator: (raw) => void readMessage(task, raw),
    description: 'Leaves a message for the model: {"text":"use tabs"} or a bare text',
  });
  setHandler(statusQuery, () => ({
    status: task.status,
    turns: task.carried.turns,
    cost: task.carried.cost,
    asks: task.asks.map(({ ask }) => ask),
    queued: task.carried.messages.length,
  }));
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

function takeMessage(task: Task, raw: unknown): SendReply {
  const { text, clientId } = readMessage(task, raw);
  const { messages } = task.carried;
  if (task.hasSeen(clientId)) return { queued: messages.length, duplicate: true };
  messages.push({ as: 'user_message', text });
  task.remember(clientId);
  return { queued: messages.length, duplicate: false };
}

/** @throws ApplicationFailure that refuses the message */
function readMessage(task: Task, raw: unknown): { text: TextRef; clientId?: string } {
  const given = typeof raw === 'string' ? { text: raw } : ((raw ?? {}) as Record<string, unknown>);
  const { text, textRef, clientId, notAfter } = given as Record<string, unknown>;
  const id = typeof clientId === 'string' ? { clientId: clientId.slice(0, 100) } : {};
  if (task.hasSeen(id.clientId)) return { text: { text: '' }, ...id };
  // An update that its sender has given up stays with the server until a worker comes.
  if (typeof notAfter === 'number' && Date.now() > notAfter) {
    throw refused('TaskBusy', 'The message came too late: its sender has been told that it was not delivered.');
  }
  if (task.closing) throw refused('TaskClosing', 'The task is ending; send the message again to take it up anew.');
  const { messages } = task.carried;
  if (messages.length >= MAX_QUEUED) {
    throw refused(
      'TaskBusy',
      `${messages.length} messages wait already; send it again when the next request has gone out.`,
    );
  }
  const ref = readBlobRef(textRef);
  if (ref) return { text: ref, ...id };
  if (typeof text !== 'string' || text.trim() === '') {
    throw refused('BadMessage', 'A message is {"text":"…"} or a bare text, and not blank.');
  }
  const waiting = messages.reduce(
    (sum, message) => sum + ('text' in message.text ? utf8Bytes(message.text.text) : 0),
    0,
  );
  const bytes = utf8Bytes(text);
  if (bytes > MAX_INLINE_ANSWER || waiting + bytes > MAX_QUEUED_TEXT) {
    throw refused('BadMessage', 'The text is too long to be sent this way; use `longhaul send`.');
  }
  return { text: { text }, ...id };
}

function refused(type: RefusalType, message: string, ...details: unknown[]): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true, details });
}

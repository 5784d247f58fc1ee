import { sleep, uuid4 } from '@temporalio/workflow';
import type { ProviderFailure } from '../domain/failures.js';
import type { TurnKey } from '../domain/ids.js';
import { afterFailure, MAX_RETRIES } from '../domain/ladder.js';
import type { StreamResult } from '../domain/turn.js';
import { toRef } from './answers.js';
import { askPerson, say } from './ask.js';
import { throwIfCancelled } from './cancel.js';
import { CallInbox } from './inbox.js';
import { showStatus } from './show.js';
import type { Task } from './state.js';

/** A turn's answer. */
export interface Answered {
  turn: TurnKey;
  answer: Extract<StreamResult, { status: 'answered' }>;
}

/** An answer, or that a person gave the task up after the provider had failed. */
export type RequestEnd = Answered | { gaveUp: ProviderFailure };

/**
 * Gets the answer of one turn: the ladder of docs/how-it-works.md. One claim a try; every wait is a durable
 * timer, and long ones are asks that a person can cut short.
 *
 * @param onTurn called with the turn's key and its inbox before each request is sent under a new key
 */
export async function requestAnswer(task: Task, onTurn: (turn: TurnKey) => void): Promise<RequestEnd> {
  let turn = beginTurn(task, onTurn);
  for (let tries = 0; ; ) {
    const result = await streamOnce(task, turn);
    task.carried.cost += result.cost;
    if (result.status === 'answered') return { turn, answer: result };
    throwIfCancelled();
    const { failure } = result;
    const step = afterFailure(failure, tries);
    if (step.step === 'retry') {
      await retryLater(task, turn, failure, tries, step.delayMs);
      tries++;
      continue;
    }
    const end = await askAboutFailure(task, failure, step.step === 'park' ? step.delayMs : undefined);
    if (end === 'give_up') return { gaveUp: failure };
    tries = end === 'by_default' ? tries + 1 : 0;
    // Words of a person belong to the next request, so it gets a key, and with it a conversation, of its own.
    if (end === 'with_message') turn = beginTurn(task, onTurn);
  }
}

function beginTurn(task: Task, onTurn: (turn: TurnKey) => void): TurnKey {
  const turn = uuid4();
  task.inbox = new CallInbox(turn);
  onTurn(turn);
  return turn;
}

/** One claim of the turn's request. */
export async function streamOnce(task: Task, turn: TurnKey): Promise<StreamResult> {
  const { carried } = task;
  const number = carried.turns + 1;
  showStatus(task, 'running', `turn ${number}: asking the model`);
  const { streamModel } = task.host;
  return streamModel.executeWithOptions({ summary: `turn ${number} · ${task.settings.model}` }, [
    {
      ...task.ref,
      turn,
      number,
      head: carried.head,
      ...(carried.previous === undefined ? {} : { previous: carried.previous }),
      messages: task.takenMessages,
      notices: carried.notices,
      settings: task.turnSettings(),
    },
  ]);
}

async function retryLater(task: Task, turn: TurnKey, failure: ProviderFailure, tries: number, delayMs: number) {
  const { class: kind, message } = failure;
  showStatus(task, 'running', `trying again in ${Math.round(delayMs / 1000)} s: ${message}`);
  await say(task, [
    { type: 'say', say: 'error_retry', turn, class: kind, message, tries: tries + 1, maxTries: MAX_RETRIES, delayMs },
  ]);
  await sleep(delayMs);
}

/** @param parkMs the task goes on by itself after this; without it only a person can say how */
async function askAboutFailure(
  task: Task,
  failure: ProviderFailure,
  parkMs: number | undefined,
): Promise<'again' | 'by_default' | 'with_message' | 'give_up'> {
  const wait = parkMs === undefined ? {} : ({ deadline: Date.now() + parkMs, default: 'yes' } as const);
  const answer = await askPerson(task, {
    kind: 'api_req_failed',
    question: `The model request failed (${failure.class}): ${sentence(failure.message)} Try again?`,
    ...wait,
  });
  if (answer.profile !== undefined) task.carried.profile = answer.profile;
  const text = await toRef(task, answer);
  if (answer.answer === 'no') return 'give_up';
  if (text === undefined) return answer.answer === 'yes' && parkMs !== undefined ? 'by_default' : 'again';
  task.takenMessages.push({ as: 'user_message', text });
  return 'with_message';
}

/** The text with a full stop, if it has no end. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

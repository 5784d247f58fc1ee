import { sleep, uuid4 } from '@temporalio/workflow';
import type { ProviderFailure } from '../domain/failures.js';
import type { TurnKey } from '../domain/ids.js';
import { afterFailure, MAX_RETRIES } from '../domain/ladder.js';
import type { Outcome } from '../domain/outcomes.js';
import type { StreamResult, TurnSettings } from '../domain/turn.js';
import { say } from './ask.js';
import { askHowToGoOn } from './asks/request-failed.js';
import { capsOf, spentOutcome } from './budget.js';
import { throwIfCancelled } from './cancel.js';
import { CallInbox } from './inbox.js';
import { whilePaused } from './pause.js';
import { showStatus } from './show.js';
import type { Task } from './state.js';

/** A turn's answer. */
export interface Answered {
  turn: TurnKey;
  answer: Extract<StreamResult, { status: 'answered' }>;
}

/** A turn's key and its settings, which hold for all of it. */
export interface BegunTurn {
  turn: TurnKey;
  settings: TurnSettings;
}

/** An answer; or how the task ends without one. */
export type RequestEnd = Answered | { outcome: Outcome };

/**
 * Gets the answer of one turn: the ladder of docs/how-it-works.md. One claim a try; every wait is a durable
 * timer, and long ones are asks that a person can cut short.
 *
 * @param onTurn called before a request is sent under a new key
 */
export async function requestAnswer(task: Task, onTurn: (turn: BegunTurn) => void): Promise<RequestEnd> {
  let begun = beginTurn(task, onTurn);
  for (let tries = 0; ; ) {
    await whilePaused(task);
    const { turn } = begun;
    const result = await streamOnce(task, begun);
    task.carried.used = result.used;
    if (result.status === 'answered') return { turn, answer: result };
    throwIfCancelled();
    if (result.status === 'spent') return { outcome: spentOutcome(result.spent) };
    const { failure } = result;
    const step = afterFailure(failure, tries);
    if (step.step === 'retry') {
      await retryLater(task, turn, failure, tries, step.delayMs);
      tries++;
      continue;
    }
    const question = `The model request failed (${failure.class}): ${sentence(failure.message)} Try again?`;
    const goOn = await askHowToGoOn(task, question, step.step === 'park' ? step.delayMs : undefined);
    if (goOn.how === 'give_up') return { outcome: { outcome: 'failed', class: 'provider', message: failure.message } };
    tries = goOn.how === 'by_default' ? tries + 1 : 0;
    if (goOn.how !== 'with_message') continue;
    // Words of a person belong to the next request, so it gets a key, and with it a conversation, of its own.
    task.takenMessages.push({ as: 'user_message', ...goOn.words });
    begun = beginTurn(task, onTurn);
  }
}

function beginTurn(task: Task, onTurn: (turn: BegunTurn) => void): BegunTurn {
  const begun = { turn: uuid4(), settings: task.turnSettings() };
  task.inbox = new CallInbox(begun.turn);
  onTurn(begun);
  return begun;
}

/** One claim of the turn's request. */
export async function streamOnce(task: Task, { turn, settings }: BegunTurn): Promise<StreamResult> {
  const { carried } = task;
  const number = carried.turns + 1;
  showStatus(task, 'running', `turn ${number}: asking the model`);
  const { streamModel } = task.host;
  return streamModel.executeWithOptions({ summary: `turn ${number} · ${settings.model}` }, [
    {
      ...task.ref,
      turn,
      number,
      head: carried.head,
      ...(carried.carryOver === undefined ? {} : { carryOver: carried.carryOver }),
      ...(carried.previous === undefined ? {} : { previous: carried.previous }),
      messages: task.takenMessages,
      notices: task.takenNotices,
      // a person may have named another profile since
      settings: { ...settings, profile: carried.profile },
      caps: capsOf(carried.limits),
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

/** The text with a full stop, if it has no end. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

import { sleep, uuid4 } from '@temporalio/workflow';
import { failureText, type ProviderFailure, remedyFor } from '../domain/failures.js';
import type { TurnKey } from '../domain/ids.js';
import { afterFailure, type LadderStep, MAX_RETRIES } from '../domain/ladder.js';
import type { Outcome } from '../domain/outcomes.js';
import type { StreamResult, TurnSettings } from '../domain/turn.js';
import { MAX_QUESTION, say } from './ask.js';
import { askHowToGoOn, type GoOn } from './asks/request-failed.js';
import { capsOf, spentOutcome } from './budget.js';
import { throwIfCancelled } from './cancel.js';
import { handOverDue } from './hand-over.js';
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

/** An answer; or how the task ends without one; or that the next try belongs to a new run. */
export type RequestEnd = Answered | { outcome: Outcome } | { handOver: true };

/**
 * Gets the answer of one turn: the ladder of docs/model-failures.md. One claim a try; every wait is a durable
 * timer, and long ones are asks that a person can cut short. An outage of weeks is many tries, so the run is handed over
 * between two of them.
 *
 * @param onTurn called before a request is sent under a new key
 */
export async function requestAnswer(task: Task, onTurn: (turn: BegunTurn) => void): Promise<RequestEnd> {
  let begun = beginTurn(task, onTurn);
  for (let tries = task.carried.failedTries ?? 0; ; ) {
    if (tries > 0 && handOverDue()) return leaveForNewRun(task, tries);
    await whilePaused(task);
    const { turn } = begun;
    const result = await streamOnce(task, begun);
    task.carried.used = result.used;
    delete task.carried.failedTries;
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
    const goOn = await askAfter(task, failure, step);
    if (goOn.how === 'give_up') return { outcome: { outcome: 'failed', class: 'provider', message: failure.message } };
    tries = goOn.how === 'by_default' ? tries + 1 : 0;
    if (goOn.how !== 'with_message') continue;
    // Words of a person belong to the next request, so it gets a key, and with it a conversation, of its own.
    task.take([{ as: 'user_message', ...goOn.words }]);
    begun = beginTurn(task, onTurn);
  }
}

/** The next run makes the next try, under a key of its own: nothing of this one has become part of the conversation. */
function leaveForNewRun(task: Task, tries: number): RequestEnd {
  task.carried.failedTries = tries;
  task.putBackTaken();
  return { handOver: true };
}

function askAfter(task: Task, failure: ProviderFailure, step: Exclude<LadderStep, { step: 'retry' }>): Promise<GoOn> {
  const said = sentence(failureText(failure));
  const remedy = remedyFor(failure);
  const question = `The model request failed (${failure.class}): ${said} ${remedy ?? 'Try again?'}`;
  const detail = remedy === undefined ? said : `${said}\n${remedy}`;
  return askHowToGoOn(task, question, {
    ...(question.length > MAX_QUESTION ? { detail } : {}),
    ...(step.step === 'park' ? { parkMs: step.delayMs } : {}),
  });
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
  const { class: kind } = failure;
  const message = failureText(failure);
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

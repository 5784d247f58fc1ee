import { ActivityFailure, CancellationScope, condition, isCancellation, sleep } from '@temporalio/workflow';
import { RETRY_MS } from '../domain/ladder.js';
import type { Mode } from '../domain/modes.js';
import type { Outcome } from '../domain/outcomes.js';
import type { TurnInProgress } from '../domain/task.js';
import type { CallPage } from '../domain/turn.js';
import { control } from './activities.js';
import { say } from './ask.js';
import { askHowToGoOn } from './asks/request-failed.js';
import { CallRunner } from './calls.js';
import { throwIfCancelled } from './cancel.js';
import { handOverDue } from './hand-over.js';
import { type Answered, type RequestEnd, requestAnswer, streamOnce } from './request.js';
import type { Task } from './state.js';

/** What a turn leaves: go on, hand over to a new run in the middle of it, or the task's outcome. */
export type TurnOutcome = { next: 'turn' | 'hand_over' } | { next: 'end'; outcome: Outcome };

/** One turn: an answer of the model, the calls in it, their results; or the rest of a turn that another run began. */
export async function runTurn(task: Task): Promise<TurnOutcome> {
  const begun = task.carried.inProgress;
  const runner = new CallRunner(task, begun ?? freshProgress(task.carried.mode));
  try {
    if (begun) return await finishCalls(task, runner, await callsFrom(task, begun, begun.nextBlock));
    const end = await streamAndRun(task, runner);
    if ('outcome' in end) return { next: 'end', outcome: end.outcome };
    if ('handOver' in end) return { next: 'hand_over' };
    const { calls, callCount } = end.answer;
    const last = calls.at(-1);
    const next = last && calls.length < callCount ? { next: last.block + 1 } : {};
    return await finishCalls(task, runner, { calls, ...next });
  } finally {
    await runner.drain();
  }
}

/** Streams the answer and starts its calls as they are announced; a refusal cuts the stream. */
async function streamAndRun(task: Task, runner: CallRunner): Promise<RequestEnd> {
  const scope = new CancellationScope();
  let end: RequestEnd | undefined;
  let failure: unknown;
  const streaming = scope
    .run(() => requestAnswer(task, ({ turn, settings }) => runner.begin(turn, settings.mode)))
    .then(
      (value) => {
        end = value;
        if (!('answer' in value)) return;
        // a rewind has taken the conversation back to before it
        if (task.rewind !== undefined) task.carried.turns++;
        else adopt(task, runner, value);
      },
      (err: unknown) => {
        failure = err ?? new Error('The request failed.');
      },
    );
  try {
    for (let next = 0; ; next++) {
      await condition(() => end !== undefined || failure !== undefined || (task.inbox?.calls.length ?? 0) > next);
      const call = task.inbox?.calls[next];
      // Between two runs nothing may be in flight, so what is left waits for the end of the answer.
      if (!call || handOverDue()) break;
      await runner.accept(call);
      if (runner.stopped) scope.cancel();
    }
  } catch (err) {
    scope.cancel();
    throw err;
  } finally {
    await streaming;
    task.inbox = undefined;
  }
  throwIfCancelled();
  if (end !== undefined) return end;
  // when its worker dies, the cut stream fails instead
  if (runner.stopped && (isCancellation(failure) || failure instanceof ActivityFailure)) return closeCut(task, runner);
  throw failure;
}

/** The cut came while no execution of the stream was running. One more closes what is committed, and asks for nothing. */
async function closeCut(task: Task, runner: CallRunner): Promise<Answered> {
  const { turn } = runner.progress;
  const answer = await streamOnce(task, { turn, settings: task.turnSettings() });
  if (answer.status !== 'answered') throw new Error(`Turn ${turn} was committed, but is not closed.`);
  adopt(task, runner, { turn, answer });
  return { turn, answer };
}

/** The answer is closed: from here on it belongs to the conversation, whatever becomes of its calls. */
function adopt(task: Task, runner: CallRunner, { answer, turn }: Answered): void {
  const { carried } = task;
  const { stop, callCount, clamped } = answer;
  const { progress } = runner;
  runner.emptyAnswer = answer.requestId;
  Object.assign(progress, { turn, stop, callCount, ...(clamped && { clamped }) });
  carried.head = answer.head;
  carried.inProgress = progress;
  delete carried.carryOver;
  delete carried.previous;
  task.takenMessages.length = 0;
  task.takenNotices.length = 0;
}

/** The calls that are left once the answer is closed. Between two of them the run may be handed over. */
async function finishCalls(task: Task, runner: CallRunner, first: CallPage): Promise<TurnOutcome> {
  for (let page = first; ; page = await callsFrom(task, runner.progress, page.next)) {
    for (const call of page.calls) {
      if (handOverDue() && !runner.stopped) {
        await runner.settle();
        return { next: 'hand_over' };
      }
      await runner.accept(call);
    }
    if (page.next === undefined) break;
  }
  await runner.settle();
  return endTurn(task, runner);
}

function callsFrom(task: Task, { turn }: TurnInProgress, from: number): Promise<CallPage> {
  return control.listCalls({ ...task.ref, turn, from });
}

async function endTurn(task: Task, runner: CallRunner): Promise<TurnOutcome> {
  const { carried } = task;
  const { turn, verdicts, callCount, stop, rejected, clamped } = runner.progress;
  carried.turns++;
  carried.previous = { turn, verdicts, rest: rejected || runner.outcome ? 'skipped' : 'interrupted' };
  delete carried.inProgress;
  carried.truncations = runner.truncated ? carried.truncations + 1 : 0;
  if (runner.outcome) return { next: 'end', outcome: runner.outcome };
  if (stop === 'refusal') return afterRefusal(task);
  if (runner.emptyAnswer !== undefined && stop !== 'max_tokens') return afterEmptyAnswer(task, runner.emptyAnswer);
  carried.emptyAnswers = 0;
  if (stop === 'max_tokens') carried.notices.push('cut_by_max_tokens');
  if (callCount > 0) return { next: 'turn' };
  // nothing but reasoning, text, or a pause: without a call nothing goes on, and it must not go on for ever;
  // what the budget has cut is no mistake: the next claim says so
  if (stop !== 'max_tokens' || !clamped) carried.mistakes++;
  if (stop !== 'max_tokens') carried.notices.push(stop === 'pause_turn' ? 'go_on' : 'no_tool_used');
  return { next: 'turn' };
}

/** The provider's failure, not the model's mistake: as often as other failures it is tried again, then a person is asked. */
async function afterEmptyAnswer(task: Task, requestId: string): Promise<TurnOutcome> {
  const { carried } = task;
  const text = `The model answered with nothing${requestId === '' ? '' : ` (request ${requestId})`}.`;
  carried.notices.push('empty_answer');
  const delay = RETRY_MS[carried.emptyAnswers++];
  await say(task, [{ type: 'say', say: 'error', slug: 'provider-failed', text }]);
  if (delay !== undefined) {
    await sleep(delay);
    return { next: 'turn' };
  }
  const times = carried.emptyAnswers;
  carried.emptyAnswers = 0;
  return goOnAfter(task, `${text} It was the ${times}th time in a row. Try again?`);
}

function afterRefusal(task: Task): Promise<TurnOutcome> {
  return goOnAfter(
    task,
    'The model refused to answer. Answer with a text that puts the task differently, take the conversation back to an earlier message, or answer "no" to end the task.',
  );
}

async function goOnAfter(task: Task, question: string): Promise<TurnOutcome> {
  const goOn = await askHowToGoOn(task, question);
  switch (goOn.how) {
    case 'give_up':
      return { next: 'end', outcome: { outcome: 'failed', class: 'provider', message: question } };
    case 'with_message':
      task.carried.messages.unshift({ as: 'user_message', ...goOn.words });
      return { next: 'turn' };
    case 'again':
    case 'by_default':
      return { next: 'turn' };
  }
}

function freshProgress(mode: Mode): TurnInProgress {
  return {
    turn: '',
    mode,
    stop: 'end_turn',
    callCount: 0,
    nextBlock: 0,
    verdicts: [],
    rejected: false,
  };
}

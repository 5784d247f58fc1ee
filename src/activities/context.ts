import assert from 'node:assert';
import { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { LonghaulError } from '../domain/errors.js';
import type { TaskRef } from '../domain/turn.js';
import { asTaskWork } from '../journal/fault-points.js';
import type { Journal } from '../journal/journal.js';
import type { Secrets } from '../model/secrets.js';
import type { RunGate } from '../runs/enter.js';
import { followStop, type Stop } from './stop.js';

/** What activities work with; one per worker process. */
export interface ActivityDeps {
  journal: Journal;
  home: string;
  env: NodeJS.ProcessEnv;
  secrets: Secrets;
  /** Lets executions of a task's newest run pass. */
  runs: RunGate;
}

/** A defect is met so often before the task fails with it, where people see it. */
const DEFECT_TRIES = 3;

/** How often a running activity says that it lives, whatever it is doing. */
const HEARTBEAT_MS = 1_000;

/**
 * Orders the executions of one thing within a run: a later activity, or a later attempt of one, is greater. Temporal hands
 * a retry even to a worker that is stopped, and that one begins with it when it wakes up.
 */
export function dispatchOrder(): number {
  const { activityId, attempt } = Context.current().info;
  return Number(activityId) * ATTEMPTS + attempt;
}

/** Temporal's id of the workflow run that this execution belongs to. */
export function currentRun(): string {
  // there are no activities here without a workflow
  return Context.current().info.workflowExecution!.runId;
}

/** More attempts than one activity can have: one a second for two years. */
const ATTEMPTS = 2 ** 26;

/**
 * Wraps an activity: heartbeats from a timer of its own, a check that the task's references belong to this journal, and
 * errors as Temporal should treat them.
 */
export function activity<Input extends TaskRef, Output>(
  deps: ActivityDeps,
  run: (input: Input, deps: ActivityDeps, stop: Stop) => Promise<Output>,
): (input: Input) => Promise<Output> {
  return async (input) => {
    const context = Context.current();
    const stop = followStop(context, () => context.cancellationDetails?.cancelRequested ?? false);
    const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
    try {
      checkJournal(input, deps.journal);
      return await asTaskWork(context.info.activityType, async () => {
        await deps.runs.enter(context.client, input.task, currentRun());
        return run(input, deps, stop);
      });
    } catch (err) {
      throw withoutSecrets(asFailure(err, context), deps.secrets);
    } finally {
      clearInterval(beat);
    }
  };
}

function checkJournal({ journal: wanted }: TaskRef, { id: held }: Journal): void {
  if (wanted.id === held.id && wanted.generation === held.generation) return;
  throw new LonghaulError(
    'journal-lost',
    `The task belongs to journal ${wanted.id} generation ${wanted.generation}, but this worker has ${held.id} generation ${held.generation}.`,
    {
      kept: 'The workflow and its history.',
      next: 'Start the worker with the LONGHAUL_HOME the task was started with.',
    },
  );
}

/** Errors that no retry can mend are marked so, defects of our own among them; everything else is tried again by Temporal, for as long as it takes. */
export function asFailure(err: unknown, context: Context): unknown {
  if (err instanceof CancelledFailure || err instanceof ApplicationFailure) return err;
  if (context.cancellationSignal.aborted && !LonghaulError.is(err)) {
    if (context.cancellationDetails?.cancelRequested) return new CancelledFailure('CANCELLED');
    // Nobody cancelled the task: another execution has to take this up.
    return ApplicationFailure.create({ type: 'Detached', message: 'The worker left this execution to a successor.' });
  }
  if (LonghaulError.is(err)) {
    const nonRetryable = err.slug === 'journal-lost' || err.slug === 'journal-conflict';
    return ApplicationFailure.create({ type: err.slug, message: err.message, nonRetryable, cause: err });
  }
  if (isDefect(err) && context.info.attempt >= DEFECT_TRIES) {
    return ApplicationFailure.create({ type: 'internal', message: String(err), nonRetryable: true, cause: err });
  }
  return err;
}

/** Errors of our own code: they come again, however often it is run. */
function isDefect(err: unknown): err is Error {
  return [TypeError, RangeError, ReferenceError, SyntaxError, assert.AssertionError].some(
    (kind) => err instanceof kind,
  );
}

/** An error goes into the history and the log, with its causes: none may hold a key. */
function withoutSecrets(err: unknown, secrets: Secrets): unknown {
  for (let at: unknown = err; at instanceof Error; at = at.cause) {
    const { message } = at;
    const shown = secrets.hide(message);
    if (shown === message) continue;
    at.message = shown;
    if (at.stack !== undefined) at.stack = secrets.hide(at.stack);
  }
  return err;
}

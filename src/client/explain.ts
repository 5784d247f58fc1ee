import { LonghaulError } from '../domain/errors.js';
import { isOpen } from '../domain/outcomes.js';
import type { Journal } from '../journal/journal.js';
import { beingStarted, cutOff, noSuchMessage } from './errors.js';
import { openAsks } from './open-asks.js';
import type { CallFailure } from './temporal-tasks.js';

type Refused = Extract<CallFailure, { kind: 'refused' }>;

/** Why a call to a task's workflow failed; loads Temporal's libraries, which the call had loaded anyway. */
export async function failureOf(err: unknown): Promise<CallFailure> {
  const { callFailure } = await import('./temporal-tasks.js');
  return callFailure(err);
}

/** What a failed call means for people; other errors come back as they are. */
export async function explain(journal: Journal, task: string, cause: unknown): Promise<unknown> {
  if (LonghaulError.is(cause)) return cause;
  const failure = await failureOf(cause);
  switch (failure.kind) {
    case 'refused':
      return refusal(journal, task, failure, cause);
    case 'timeout':
      return new LonghaulError('service-busy', `No worker answered for task ${task}.`, {
        kept: 'The task; nothing was sent.',
        next: 'Start a worker (`longhaul up`), then send it again.',
        cause,
      });
    case 'ended': {
      const row = await journal.getTask(task);
      if (!row) {
        const next = 'List the tasks with `longhaul tasks`.';
        return new LonghaulError('task-not-found', `There is no task ${task}.`, { next, cause });
      }
      if (isOpen(row.status)) return beingStarted(task, cause);
      return new LonghaulError('task-closed', `Task ${task} has ended.`, {
        next: `Take it up again with \`longhaul resume ${task}\` or \`longhaul send ${task} "…"\`.`,
        cause,
      });
    }
    case 'unreachable':
      return cutOff(cause);
    case 'other':
      return cause;
  }
}

async function refusal(
  journal: Journal,
  task: string,
  { type, message }: Refused,
  cause: unknown,
): Promise<LonghaulError> {
  switch (type) {
    case 'AskRefused': {
      const open = (await openAsks(journal, task)).map(({ id }) => id).join(', ');
      const next = open === '' ? 'Nothing needs an answer now.' : `Open asks: ${open} (see \`longhaul show ${task}\`).`;
      return new LonghaulError('ask-refused', message, { kept: 'The task is as it was.', next, cause });
    }
    case 'TaskBusy':
      return new LonghaulError('task-busy', message, {
        kept: 'The messages that wait.',
        next: 'Send it again in a while.',
        cause,
      });
    case 'TaskClosing':
      return new LonghaulError('task-closing', message, { next: 'Send it again: it takes the task up anew.', cause });
    case 'WrongState':
      return new LonghaulError('task-state', message, {
        kept: 'The task is as it was.',
        next: `See \`longhaul show ${task}\`.`,
        cause,
      });
    case 'BadArgument':
      return new LonghaulError('bad-answer', message, {
        kept: 'The task is as it was.',
        next: 'See docs/cli.md.',
        cause,
      });
    case 'MessageNotFound':
      return noSuchMessage(task, message, cause);
    case 'BadMessage':
      return new LonghaulError('bad-answer', message, { next: 'Use `longhaul send` or `longhaul answer`.', cause });
  }
}

import { LonghaulError } from '../domain/errors.js';
import type { TaskStatus } from '../domain/outcomes.js';
import type { WorkspaceInUse } from '../journal/journal.js';

/** @param status of the other task */
export function inUse({ task, workspace }: WorkspaceInUse, status: TaskStatus): LonghaulError {
  return new LonghaulError('workspace-in-use', `Task ${task} is open in ${workspace} (${status}).`, {
    kept: 'That task is untouched; no new one was started.',
    next: `Look at it with \`longhaul show ${task}\`, end it with \`longhaul abort ${task}\`, or use another folder.`,
  });
}

/** A row is there, its workflow not yet. */
export function beingStarted(task: string, cause: unknown): LonghaulError {
  return new LonghaulError('task-busy', `Task ${task} is just being started; Temporal does not know it yet.`, {
    kept: 'The task is as it was.',
    next: 'Try again in half a minute; a start that never comes about is given up by then.',
    cause,
  });
}

/** The server did not answer a call, or is not there. */
export function cutOff(cause: unknown): LonghaulError {
  return new LonghaulError('temporal-unreachable', 'Temporal does not answer.', {
    kept: 'The task is as it was; nothing was sent that it has not got.',
    next: 'Try again when it is back; `longhaul doctor` shows its state, `longhaul up` starts the local service.',
    cause,
  });
}

/** A worker took what was asked for, and is still at it. */
export function notDoneYet(task: string, cause: unknown): LonghaulError {
  return new LonghaulError('service-busy', `Task ${task} has taken it, but has not done it yet.`, {
    kept: 'The task; it is done as soon as its worker gets to it.',
    next: `See \`longhaul show ${task}\`.`,
    cause,
  });
}

/** The call that starts a workflow ran out of time. */
export function unsure(task: string, cause: unknown): LonghaulError {
  return new LonghaulError('temporal-unreachable', `Temporal did not say in time whether task ${task} was started.`, {
    kept: 'If it was, it goes on; if not, it ends by itself within a minute of Temporal being back.',
    next: `Look at \`longhaul show ${task}\` before you start it again.`,
    cause,
  });
}

/** A message that the conversation does not have, or not any more. */
export function noSuchMessage(task: string, problem: string, cause?: unknown): LonghaulError {
  return new LonghaulError('message-not-found', problem, {
    kept: 'The conversation is as it was.',
    next: `\`longhaul rewind ${task}\` lists the messages with their numbers.`,
    cause,
  });
}

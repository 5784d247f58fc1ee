import { LonghaulError } from '../domain/errors.js';
import type { TaskStatus } from '../domain/outcomes.js';

/** Something that only a closed task can take. @param status as people see it @param command what was asked for */
export function openTask(task: string, status: TaskStatus, command: string): LonghaulError {
  return new LonghaulError('task-state', `Task ${task} has not ended (${status}), so there is nothing to ${command}.`, {
    kept: 'The task is as it was.',
    next: wayOn(task, status),
  });
}

/** Something that only an open task can take. */
export function closedTask(task: string, status: TaskStatus, what: string): LonghaulError {
  return new LonghaulError('task-closed', `Task ${task} has ended (${status}); ${what}.`, {
    kept: 'The task is as it was.',
    next: `Take it up again with \`longhaul resume ${task}\` or \`longhaul send ${task} "…"\`.`,
  });
}

/** What a person who wants an open task to go on can do. */
function wayOn(task: string, status: TaskStatus): string {
  switch (status) {
    case 'waiting':
      return `It waits for an answer: \`longhaul show ${task}\` has the question, and how to answer it.`;
    case 'paused':
      return `Let it go on with \`longhaul unpause ${task}\`.`;
    case 'parked':
      return `It goes on by itself; \`longhaul show ${task}\` says when, and how to cut the wait short.`;
    case 'no_worker':
      return 'It goes on when a worker is there: `longhaul up`, or `longhaul worker` for another server.';
    case 'aborting':
      return 'Try again when it has ended.';
    default:
      return `Leave it a message with \`longhaul send ${task} "…"\`, or follow it with \`longhaul attach ${task}\`.`;
  }
}

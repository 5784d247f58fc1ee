import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { askPerson } from '../ask.js';
import type { Task } from '../state.js';

/** The journal is looked for again after so long each time, ms: a worker with the right one may have come. */
const LOOK_AGAIN_MS = [15_000, 60_000, 240_000, 900_000];

/** The journal that the task belongs to, or a part of it, is not where the worker is. */
export function isJournalLost(err: unknown): err is ActivityFailure {
  return err instanceof ActivityFailure && err.cause instanceof ApplicationFailure && err.cause.type === 'journal-lost';
}

/** Does a step of the task; while its journal is away the task is parked, and then the step is done again. */
export async function withJournal<T>(task: Task, step: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await step();
    } catch (err) {
      if (!isJournalLost(err) || !(await waitForJournal(task, err, tries))) throw err;
    }
  }
}

/** Nothing can be logged meanwhile: the ask is seen in Temporal only. @returns false when a person ends the task */
async function waitForJournal(task: Task, { cause }: ActivityFailure, tries: number): Promise<boolean> {
  const delay = LOOK_AGAIN_MS[Math.min(tries, LOOK_AGAIN_MS.length - 1)]!;
  const question = `${cause?.message ?? 'The journal of the task is not here.'} Look for it again?`;
  const what = { kind: 'api_req_failed', question, parkedUntil: Date.now() + delay } as const;
  const answer = await askPerson(task, what, async () => undefined);
  return answer.answer !== 'no';
}

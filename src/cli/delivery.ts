import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../domain/asks.js';
import { type ErrorSlug, LonghaulError } from '../domain/errors.js';

/** How long an answer is tried to be given while nobody can be reached. */
const ANSWER_MS = 30_000;
const PAUSE_MS = 1000;
/** Errors that pass when the server, or the service, is back. */
const PASSING: readonly ErrorSlug[] = ['temporal-unreachable', 'service-busy', 'service-failed'];

/** What following a task may do to it. */
export interface TaskActions {
  answer(task: string, answer: Answer): Promise<unknown>;
  abort(task: string): Promise<void>;
}

/** Does things to a task although the server is away for a while. */
export class Delivery {
  constructor(
    private readonly actions: TaskActions,
    private readonly task: string,
    /** Gets a line for people when it takes longer. */
    private readonly say: (line: string) => void,
    private readonly signal: AbortSignal,
    private readonly answerForMs = ANSWER_MS,
  ) {}

  /** @throws what the last try threw; see {@link isPassing} */
  async answer(answer: Answer): Promise<void> {
    // under one id it is taken once, however often it is sent
    const once = { clientId: randomUUID(), ...answer };
    await this.insist(this.answerForMs, () => this.actions.answer(this.task, once));
  }

  async abort(forMs: number): Promise<void> {
    await this.insist(forMs, () => this.actions.abort(this.task));
  }

  private async insist(forMs: number, act: () => Promise<unknown>): Promise<void> {
    const until = Date.now() + forMs;
    for (let tries = 1; ; tries++) {
      try {
        await act();
        return;
      } catch (err) {
        if (!isPassing(err) || Date.now() > until || this.signal.aborted) throw err;
        if (tries === 1) this.say('Temporal cannot be reached just now; trying again.');
      }
      await sleep(PAUSE_MS, undefined, { signal: this.signal }).catch(() => undefined);
    }
  }
}

export function isPassing(err: unknown): boolean {
  return LonghaulError.is(err) && PASSING.includes(err.slug);
}

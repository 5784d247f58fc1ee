import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { StoredEvent } from '../../src/domain/events.js';
import { call, type FakeModel, finish, type Responder, type Step } from '../../src/fake-model/index.js';
import { isEnd } from '../../src/fake-model/steps.js';
import { isClosed, until, type World } from './world.js';

export const command = (text: string): Step => call('execute_command', { command: text, requires_approval: false });
export const question = (text: string): Step => call('ask_followup_question', { question: text });
export const completes = (result: string): Step => call('attempt_completion', { result });

/** What the model is told of a task that was taken up again. */
export const RESUMED = 'the person has taken it up again now';

/** Plays `first` until the task is taken up again, and then completes, with how often it was. */
export const untilResumed =
  (first: (turn: number) => Step[]): Responder =>
  ({ turn, body }) => {
    const times = JSON.stringify(body).split(RESUMED).length - 1;
    const steps = times === 0 ? first(turn) : [completes(`resumed ${times}`)];
    return steps.some(isEnd) ? steps : [...steps, finish()];
  };

/** Lines of a file in the workspace: how often its commands have run. */
export function linesOf(workspace: string, name = 'counter'): string[] {
  const file = join(workspace, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** Waits until the task has ended so many times. @returns how it ended the last time */
export async function ended(world: World, task: string, times = 1) {
  const closed = await until(async () => {
    const found = (await world.events(task)).map(({ event }: StoredEvent) => event).filter(isClosed);
    return found.length >= times && found;
  }, 60_000);
  expect(closed).toHaveLength(times);
  return closed.at(-1)!.outcome;
}

/** The last request: roles alternate, no request was refused. @returns it, and how often a word stands in it */
export function lastRequest(model: FakeModel) {
  expect(model.refused()).toEqual([]);
  const { messages } = model.requests.at(-1)!.body as { messages: { role: string }[] };
  expect(messages.map(({ role }) => role)).toEqual(messages.map((_, at) => (at % 2 === 0 ? 'user' : 'assistant')));
  const text = JSON.stringify(messages);
  return { messages, text, times: (word: string) => text.split(word).length - 1 };
}

import { expect } from 'vitest';
import type { StartRequest } from '../../src/client.js';
import type { TaskEvent } from '../../src/domain/events.js';
import { call, type FakeModel, finish, type Responder, type Step } from '../../src/fake-model/index.js';
import { isClosed, type World } from './world.js';

/** The answer that completes a task. */
export const done: Step[] = [call('attempt_completion', { result: 'done' }), finish()];

/** Plays these answers, then completes. */
export const answers =
  (...turns: Step[][]): Responder =>
  ({ turn }) =>
    turns[turn] ?? done;

/** Starts a task whose model, its own, answers like that. */
export async function play(world: World, responder: Responder, request: Partial<StartRequest> = {}) {
  const model = await world.model({ responder });
  return { model, ...(await world.start(model, request)) };
}

/** Waits until the task has completed without a refused request. @returns its log */
export async function completed(
  world: World,
  { task, model }: { task: string; model: FakeModel },
): Promise<TaskEvent[]> {
  expect((await world.event(task, isClosed, 60_000)).outcome.outcome).toBe('completed');
  expect(model.refused()).toEqual([]);
  return (await world.events(task)).map(({ event }) => event);
}

import { condition } from '@temporalio/workflow';
import type { CarriedState } from '../domain/task.js';
import { say } from './ask.js';
import { throwIfCancelled } from './cancel.js';
import { showStatus } from './show.js';
import type { Task } from './state.js';

/** Waits while a person keeps the task paused: before each request, and before each call. */
export async function whilePaused(task: Task): Promise<void> {
  while (task.carried.pausedAt !== undefined) {
    showStatus(task, 'paused');
    await say(task, [{ type: 'status', status: 'paused' }]);
    await condition(() => task.carried.pausedAt === undefined);
    throwIfCancelled();
    showStatus(task, 'running');
    await say(task, [{ type: 'status', status: 'running' }]);
  }
}

/** @returns whether that is new */
export function pause(carried: CarriedState, now: number): boolean {
  if (carried.pausedAt !== undefined) return false;
  carried.pausedAt = now;
  return true;
}

/** The limit on wall time did not run meanwhile. @returns whether that is new */
export function unpause(carried: CarriedState, now: number): boolean {
  if (carried.pausedAt === undefined) return false;
  const paused = now - carried.pausedAt;
  delete carried.pausedAt;
  carried.pausedMs += paused;
  if (carried.deadlineAt !== undefined) carried.deadlineAt += paused;
  return true;
}

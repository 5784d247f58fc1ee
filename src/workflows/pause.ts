import { condition } from '@temporalio/workflow';
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

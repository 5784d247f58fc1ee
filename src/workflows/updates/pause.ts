import { setHandler } from '@temporalio/workflow';
import { pauseUpdate, unpauseUpdate } from '../definitions.js';
import { showStatus } from '../show.js';
import type { Task } from '../state.js';
import { refused, refuseWhileClosing } from './refuse.js';

/** A person keeps the task from going on, and lets it go on again. The limit on wall time stands still meanwhile. */
export function handlePauses(task: Task): void {
  setHandler(
    pauseUpdate,
    () => {
      task.carried.pausedAt = Date.now();
      showStatus(task, task.status, task.doing);
      return { unchanged: false };
    },
    {
      validator: () => {
        refuseWhileClosing(task);
        if (task.carried.pausedAt !== undefined) throw refused('WrongState', 'The task is paused already.');
      },
      description: 'No new request and no new call until "unpause"; what is running ends as it would.',
    },
  );
  setHandler(
    unpauseUpdate,
    () => {
      const { carried } = task;
      const paused = Date.now() - (carried.pausedAt ?? Date.now());
      delete carried.pausedAt;
      carried.pausedMs += paused;
      if (carried.deadlineAt !== undefined) carried.deadlineAt += paused;
      return { unchanged: false };
    },
    {
      validator: () => {
        refuseWhileClosing(task);
        if (task.carried.pausedAt === undefined) throw refused('WrongState', 'The task is not paused.');
      },
      description: 'Lets a paused task go on.',
    },
  );
}

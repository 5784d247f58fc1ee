import { setHandler } from '@temporalio/workflow';
import type { PauseReply } from '../../domain/replies.js';
import { sayDone } from '../ask.js';
import { pauseUpdate, unpauseUpdate } from '../definitions.js';
import { pause, unpause } from '../pause.js';
import { showStatus } from '../show.js';
import type { Task } from '../state.js';
import { argument, onlyKeys, refused, refuseLate, refuseWhileClosing } from './refuse.js';

/** A person keeps the task from going on, and lets it go on again. The limit on wall time stands still meanwhile. */
export function handlePauses(task: Task): void {
  setHandler(pauseUpdate, () => takePause(task), {
    validator: (raw) => {
      checkArgument(raw);
      refuseWhileClosing(task);
      if (task.carried.pausedAt !== undefined) throw refused('WrongState', 'The task is paused already.');
    },
    description: 'No new request and no new call until "unpause"; what is running ends as it would.',
  });
  setHandler(unpauseUpdate, () => takeUnpause(task), {
    validator: (raw) => {
      checkArgument(raw);
      refuseWhileClosing(task);
      if (task.carried.pausedAt === undefined) throw refused('WrongState', 'The task is not paused.');
    },
    description: 'Lets a paused task go on.',
  });
}

async function takePause(task: Task): Promise<PauseReply> {
  if (!pause(task.carried, Date.now())) return { unchanged: true };
  showStatus(task, task.status, task.doing);
  await sayDone(task, [{ type: 'pause', paused: true }]);
  return { unchanged: false };
}

async function takeUnpause(task: Task): Promise<PauseReply> {
  if (!unpause(task.carried, Date.now())) return { unchanged: true };
  showStatus(task, task.status, task.doing);
  await sayDone(task, [{ type: 'pause', paused: false }]);
  return { unchanged: false };
}

/** There is nothing to say with it. */
function checkArgument(raw: unknown): void {
  if (raw === undefined || raw === null) return;
  onlyKeys(argument(raw, '{}'), ['notAfter']);
  refuseLate(raw);
}

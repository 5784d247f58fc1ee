import { CancellationScope } from '@temporalio/workflow';
import { rewoundState } from '../domain/rewound-state.js';
import { sayDone } from './ask.js';
import { showStatus } from './show.js';
import type { Task } from './state.js';

/**
 * Does a step of the task that a rewind may break off.
 * @returns what it came to, or `rewound` when a rewind has taken its place
 */
export async function unlessRewound<T>(task: Task, step: () => Promise<T>): Promise<T | 'rewound'> {
  const outer = CancellationScope.current();
  const scope = new CancellationScope();
  task.interrupt = () => scope.cancel();
  try {
    // it may have come when nothing was to be broken off
    if (task.rewind === undefined) {
      const result = await scope.run(step);
      if (task.rewind === undefined) return result;
    }
  } catch (err) {
    if (task.rewind === undefined || outer.consideredCancelled) throw err;
  } finally {
    task.interrupt = undefined;
  }
  await applyRewind(task, task.rewind);
  return 'rewound';
}

/** What came after the message is no longer part of the conversation; its effects in the workspace stay. */
export async function applyRewind(task: Task, { to, text }: NonNullable<Task['rewind']>): Promise<void> {
  const { carried } = task;
  const asks = task.asks.map(({ ask }) => ask.id);
  for (const open of [...task.asks]) task.closeAsk(open);
  // messages whose request has no answer yet are not part of the conversation: they go with the next one
  task.putBackTaken();
  rewoundState(carried, to, text);
  task.parkedUntil = undefined;
  await sayDone(task, [
    ...asks.map((ask) => ({ type: 'ask_closed', ask, by: 'cancelled', answer: 'no' }) as const),
    { type: 'rewound', ...to, ...(text && { said: text }) },
    { type: 'status', status: 'running' },
  ]);
  task.rewind = undefined;
  showStatus(task, 'running');
}

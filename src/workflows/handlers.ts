import { setHandler } from '@temporalio/workflow';
import { callReady, statusQuery } from './definitions.js';
import type { Task } from './state.js';
import { handleAnswers } from './updates/answer.js';
import { handleLimits } from './updates/limits.js';
import { handleMode } from './updates/mode.js';
import { handlePauses } from './updates/pause.js';
import { handleRewinds } from './updates/rewind.js';
import { handleMessages } from './updates/send.js';

/**
 * Registers all ways into a task, before anything is awaited. What a handler accepts is in the state when it returns or
 * first awaits; validators are synchronous and refuse without a trace in the history.
 */
export function registerHandlers(task: Task): void {
  setHandler(callReady, (ready) => task.inbox?.receive(ready), {
    description: 'Sent by the worker while an answer streams; not for people.',
  });
  handleAnswers(task);
  handleMessages(task);
  handleMode(task);
  handleLimits(task);
  handlePauses(task);
  handleRewinds(task);
  setHandler(statusQuery, () => {
    const { turns, used, messages, mode, limits, pausedAt } = task.carried;
    return {
      status: task.status,
      turns,
      cost: used.cost,
      tokens: used.tokens,
      asks: task.asks.map(({ ask }) => ask),
      queued: messages.length,
      mode,
      limits,
      pausedAt: pausedAt ?? null,
      parkedUntil: task.parkedUntil ?? null,
    };
  });
}

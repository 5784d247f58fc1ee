import type { TaskClient } from '../client.js';
import type { OnAsk } from './flags.js';
import { type FollowOptions, follow } from './follow.js';
import { HumanView } from './human-view.js';
import type { Io } from './io.js';
import { JsonView } from './json-view.js';
import type { StopSignals } from './signals.js';
import { serviceRuns } from './task-row.js';
import type { View } from './view.js';

interface ViewingFlags {
  json?: boolean;
  onAsk?: OnAsk;
}

/** What a command that shows a task as it goes on needs. */
export interface Viewing {
  view: View;
  /** Shows the task from this event on. @returns the exit code */
  follow(task: string, from: number, more?: Pick<FollowOptions, 'detachable' | 'defaultDelayMs'>): Promise<number>;
}

export function viewing(io: Io, home: string, client: TaskClient, signals: StopSignals, flags: ViewingFlags): Viewing {
  const { journal } = client;
  const onAsk = onAskOf(io, flags);
  const view = flags.json ? new JsonView(io) : new HumanView(io, journal, { howToAnswer: onAsk !== 'prompt' });
  const fixed = { io, journal, actions: client, view, signals, onAsk, serviceRuns: serviceRuns(home) };
  return { view, follow: (task, from, more) => follow({ ...fixed, task, from, ...more }) };
}

/** Without a word on it: a person at a terminal is asked; a script ends with the code for "waiting". */
function onAskOf(io: Io, flags: ViewingFlags): OnAsk | 'prompt' {
  return flags.onAsk ?? (io.interactive && !flags.json ? 'prompt' : 'exit');
}

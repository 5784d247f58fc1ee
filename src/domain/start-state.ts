import { NOTHING_USED } from './budget.js';
import { DEFAULT_TASK_SETTINGS } from './settings.js';
import type { CarriedState, TaskInput } from './task.js';

/**
 * What a run begins with: its predecessor may have been of an earlier version, and not hand everything over.
 * @param now ms since the epoch
 */
export function startState(input: TaskInput, now: number): CarriedState {
  const { mode, limits, profile } = { ...DEFAULT_TASK_SETTINGS, ...input.settings };
  const first: CarriedState = {
    head: null,
    turns: 0,
    mistakes: 0,
    emptyAnswers: 0,
    startedAt: now,
    messages: [{ as: 'task', text: input.prompt, ...(input.attachments && { attachments: input.attachments }) }],
    notices: mode === 'plan' ? ['plan_mode'] : [],
    seen: '',
    profile,
    settledAsks: [],
    used: NOTHING_USED,
    mode,
    limits,
    recentCalls: '',
    truncations: 0,
    requestsSinceTodo: 0,
    pausedMs: 0,
  };
  if (input.state) return { ...first, ...input.state };
  return limits.maxTimeMs === undefined ? first : { ...first, deadlineAt: now + limits.maxTimeMs };
}

/** The model gets a fresh start: a person has helped it. */
export function forgiveMistakes(carried: CarriedState): void {
  carried.mistakes = 0;
  carried.truncations = 0;
  carried.emptyAnswers = 0;
  carried.recentCalls = '';
  delete carried.looping;
}

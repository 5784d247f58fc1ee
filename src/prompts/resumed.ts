import type { Notice } from '../domain/turn.js';

type Resumed = Extract<Notice, { notice: 'resumed' }>;

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** What the model is told of a task that had ended and is taken up again. */
export function resumedText({ agoMs, after, mode, withText }: Resumed): string {
  const lines = [
    `${endWords(after)} ${agoWords(agoMs)}; the person has taken it up again now.`,
    'Files, processes and everything else may have changed since, so what you read earlier may no longer hold.',
    'Take calls whose result is missing, interrupted or unknown as not done, and look how things stand before you repeat one.',
    'Calls that have a result are done: do not make them again.',
    mode === 'plan' ? planWords(withText) : actWords(withText),
  ];
  return lines.join(' ');
}

function endWords(after: Resumed['after']): string {
  switch (after) {
    case 'completed':
      return 'This task was completed';
    case 'budget':
      return 'This task was ended by one of its limits';
    case 'cancelled':
      return 'This task was aborted by the person';
    case 'failed':
      return 'This task ended with a failure';
    case 'lost':
      return 'This task was cut off without a proper end';
  }
}

/** Such as `3 hours ago`: the largest unit only, rounded down. */
export function agoWords(ms: number): string {
  for (const [unit, size] of UNITS) {
    const many = Math.floor(ms / size);
    if (many > 0) return `${many} ${unit}${many === 1 ? '' : 's'} ago`;
  }
  return 'just now';
}

function planWords(withText: boolean): string {
  return withText
    ? 'The task is in plan mode: answer what the person says in <user_message> through plan_mode_respond, and change nothing.'
    : 'The task is in plan mode, and the person has said nothing: ask through plan_mode_respond how to go on, or propose to switch to act mode.';
}

function actWords(withText: boolean): string {
  return withText
    ? 'What the person wants now is in <user_message>; it goes before what you were doing.'
    : 'Find the last step that is done, and go on from there to the end of the task.';
}

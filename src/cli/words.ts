import type { TaskLimits } from '../domain/budget.js';
import type { CallStatus } from '../domain/calls.js';
import type { Outcome, TaskStatus } from '../domain/outcomes.js';
import type { Style } from './io.js';
import { neutralise, neutralLine } from './neutral.js';
import { count, duration, money } from './text.js';

/** The summary of a call begins with the tool's name; a command stands for itself. */
export function commandOf({ tool, summary }: { tool: string; summary: string }): string {
  const line = neutralLine(summary);
  return line.startsWith(`${tool} `) ? line.slice(tool.length + 1) : line;
}

/** `completed`, or what ended the task, in one line. */
export function outcomeWords(outcome: Outcome): string {
  switch (outcome.outcome) {
    case 'completed':
    case 'cancelled':
      return outcome.outcome;
    case 'budget':
      return `ended by its budget (${outcome.limit}): ${neutralLine(outcome.message)}`;
    case 'failed':
      return `failed (${outcome.class}): ${neutralLine(outcome.message)}`;
  }
}

/** Limits in one line. */
export function limitsWords(limits: TaskLimits): string {
  const { maxTurns, maxTokens, maxCost, maxTimeMs, softPercent } = limits;
  const parts = [
    ...(maxTurns === undefined ? [] : [count(maxTurns, 'turn')]),
    ...(maxTokens === undefined ? [] : [`${maxTokens.toLocaleString('en-US')} tokens`]),
    ...(maxCost === undefined ? [] : [money(maxCost)]),
    ...(maxTimeMs === undefined ? [] : [duration(maxTimeMs)]),
  ];
  if (parts.length === 0) return 'none';
  return parts.join(', ') + (softPercent === undefined ? '' : `; asks at ${softPercent} %`);
}

/** The lines of a todo list, its items with a mark. */
export function todoLines(text: string): string[] {
  return neutralise(text)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) =>
      line.replace(/^(\s*)(?:[-*+]|\d+[.)])\s+\[([ xX])\]/, (_, space, mark) => `${space}${mark === ' ' ? '○' : '✓'}`),
    );
}

/** How a call ended, as it stands before its line. */
export function mark(status: CallStatus): string {
  switch (status) {
    case 'done':
      return '✓';
    case 'error':
      return '✗';
    case 'denied':
      return '✗ denied';
    case 'skipped':
      return '- skipped';
    case 'interrupted':
      return '! interrupted';
    case 'unknown':
      return '! outcome unknown';
  }
}

export function styleOf(status: CallStatus): 'green' | 'red' | 'yellow' | 'dim' {
  switch (status) {
    case 'done':
      return 'green';
    case 'error':
      return 'red';
    case 'denied':
    case 'interrupted':
    case 'unknown':
      return 'yellow';
    case 'skipped':
      return 'dim';
  }
}

/** Colour of a task's status: what needs a person, what went well, what did not. */
export function statusStyle(status: TaskStatus): Style {
  switch (status) {
    case 'starting':
    case 'running':
      return 'cyan';
    case 'waiting':
    case 'parked':
    case 'paused':
    case 'aborting':
    case 'no_worker':
      return 'yellow';
    case 'completed':
      return 'green';
    case 'budget':
    case 'cancelled':
    case 'failed':
      return 'red';
  }
}

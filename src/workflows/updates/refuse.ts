import { ApplicationFailure } from '@temporalio/workflow';
import type { RefusalType } from '../../domain/replies.js';
import type { Task } from '../state.js';

/** The failure of an update that is not taken. */
export function refused(type: RefusalType, message: string, ...details: unknown[]): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true, details });
}

/** @throws ApplicationFailure while the task writes its end: nobody would act on what it accepts */
export function refuseWhileClosing(task: Task): void {
  if (task.closing) throw refused('TaskClosing', 'The task is ending; try again to take it up anew.');
}

/**
 * An update that no worker took stays with the server until one comes; whoever has given it up says so beforehand.
 * @throws ApplicationFailure when the time `notAfter` (ms since the epoch) in its argument has passed
 */
export function refuseLate(raw: unknown): void {
  const { notAfter } = (raw ?? {}) as { notAfter?: unknown };
  if (typeof notAfter !== 'number' || Date.now() <= notAfter) return;
  throw refused('TaskBusy', 'It came too late: its sender has been told that it was not taken.');
}

/** The argument of an update as an object; a JSON text is read as what it says. @throws ApplicationFailure */
export function argument(raw: unknown, example: string): Record<string, unknown> {
  const value = typeof raw === 'string' && raw.trim().startsWith('{') ? parsed(raw, example) : raw;
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  throw refused('BadArgument', `The argument is one JSON object such as ${example}.`);
}

/** @throws ApplicationFailure that names the first key which is none of `known` */
export function onlyKeys(given: Record<string, unknown>, known: readonly string[]): void {
  const other = Object.keys(given).find((key) => !known.includes(key));
  if (other === undefined) return;
  throw refused('BadArgument', `"${other.slice(0, 100)}" is not known here; there are ${known.join(', ')}.`);
}

function parsed(text: string, example: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refused('BadArgument', `The argument looks like JSON but does not parse; it is such as ${example}.`);
  }
}

import { isAlive } from './identity.js';
import {
  type CommandEndKind,
  type CommandSpec,
  isCancelRequested,
  readClaim,
  requestCancel,
  takeBegan,
  writeExit,
} from './layout.js';
import { readKept } from './output.js';
import { endProcesses, type Quarry, send } from './processes.js';

/**
 * Ends what a dead runner has left, and writes down that nobody knows how the command went; or, when it was to be
 * ended anyway, that it was. Several processes may do this at once.
 */
export async function concludeLost(dir: string, spec: CommandSpec): Promise<void> {
  await endProcesses(markedBy(spec));
  conclude(dir, isCancelRequested(dir) ? 'cancelled' : 'unknown');
}

/** Ends a command that has no runner and has not begun. A shell that starts in this moment finds `began` taken. */
export function cancelBeforeStart(dir: string): void {
  requestCancel(dir);
  if (takeBegan(dir, 'cancelled')) conclude(dir, 'cancelled');
}

/** Ends a command whose runner does not do so itself (stopped, or stuck). */
export async function endWithoutRunner(dir: string, spec: CommandSpec): Promise<void> {
  requestCancel(dir);
  const { claim } = readClaim(dir);
  if (claim !== undefined && isAlive(claim.runner)) send(claim.runner.pid, 'SIGKILL');
  await endProcesses(markedBy(spec));
  conclude(dir, 'cancelled');
}

function markedBy(spec: CommandSpec): Quarry {
  return { marked: (info) => info.call === spec.call && info.task === spec.task };
}

function conclude(dir: string, end: CommandEndKind): void {
  const { bytes } = readKept(dir);
  writeExit(dir, {
    v: 1,
    end,
    code: null,
    signal: null,
    ms: null,
    ended: Date.now(),
    bytes,
    lines: null,
    living: 0,
  });
}

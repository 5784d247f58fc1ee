import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../domain/errors.js';
import { homePaths } from '../settings/paths.js';
import { processRef } from './processes.js';
import { type ChildTrouble, isFailing, type ServiceState } from './service.js';
import { readState } from './state.js';

/** ms that a child which has just ended gets to come up again. */
const RECOVER_MS = 20_000;

/**
 * Waits until both children of a running service are up: one that was killed comes back by itself.
 * @returns the state then
 * @throws LonghaulError `service-failed` when one does not come up, or does not stay up
 */
export async function requireRunning(home: string, found: ServiceState): Promise<ServiceState> {
  let state = found;
  for (const until = Date.now() + RECOVER_MS; ; await sleep(100)) {
    state = readState(homePaths(home)) ?? state;
    const trouble = failingChild(state);
    if (trouble) throw notRunning(home, state, ...trouble);
    const [worker, temporal] = [lives(state.workerPid), lives(state.temporalPid)];
    if (worker && temporal) return state;
    if (Date.now() < until) continue;
    const missing = worker ? 'Temporal server' : 'worker';
    throw notRunning(home, state, missing, state.workerTrouble ?? state.temporalTrouble);
  }
}

/** It may have ended a moment ago, and the service has not said so yet. */
const lives = (pid: number | undefined): boolean => pid !== undefined && processRef(pid) !== undefined;

function failingChild(state: ServiceState): [string, ChildTrouble] | undefined {
  const { temporalPid, temporalTrouble, workerPid, workerTrouble } = state;
  if (temporalTrouble && isFailing(temporalPid, temporalTrouble)) return ['Temporal server', temporalTrouble];
  return workerTrouble && isFailing(workerPid, workerTrouble) ? ['worker', workerTrouble] : undefined;
}

function notRunning(home: string, { pid }: ServiceState, child: string, trouble?: ChildTrouble): LonghaulError {
  const often = trouble && trouble.times > 1 ? ` It has not lasted ${trouble.times} times in a row.` : '';
  return new LonghaulError(
    'service-failed',
    `The service (process ${pid}) runs, but its ${child} does not.${often}${trouble ? ` ${trouble.message}` : ''}`,
    {
      kept: 'Tasks are unchanged; they go on when it runs. The service goes on trying.',
      next: `Read ${homePaths(home).logs}. After a change of settings: \`longhaul down\`, then \`longhaul up\`.`,
    },
  );
}

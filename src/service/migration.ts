import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../domain/errors.js';
import type { HomePaths } from '../settings/paths.js';
import { named } from './differences.js';
import { lockHolder } from './lock.js';
import { packageIdentity } from './package.js';
import { readState } from './state.js';

/** ms that a service which is just starting gets to bring the schema up to date itself. */
const STARTING_MS = 30_000;

/**
 * Whether the schema of a home's files may be changed now: not while a service runs that was started with the schema
 * as it is, since its worker writes by that. The service itself and its own worker may. Returns false, after a moment,
 * while a service is just starting: by then it may have changed the schema itself.
 *
 * The function that is returned throws LonghaulError `service-version`.
 */
export function migrationGuard(paths: HomePaths): (known: number, found: number) => Promise<boolean> {
  const until = Date.now() + STARTING_MS;
  return async (known, found) => {
    const holder = lockHolder(paths.serviceLock);
    if (!holder || holder.pid === process.pid || holder.pid === process.ppid) return true;
    const state = readState(paths);
    if (!state && Date.now() < until) {
      await sleep(50);
      return false;
    }
    const runs = state ? named(state) : `a service (process ${holder.pid}) that does not become ready`;
    throw new LonghaulError(
      'service-version',
      `The journal has schema ${found} and is in use by the running service: ${runs}. This is ${named(packageIdentity())}, which works with schema ${known}.`,
      {
        kept: 'The journal was left as it is; the service and its tasks go on.',
        next: 'Replace the service by this version with `longhaul up` (open tasks go on), or use the version that runs.',
      },
    );
  };
}

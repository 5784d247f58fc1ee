import type { HomePaths } from '../settings/paths.js';
import { readJson } from './files.js';
import { lockHolder } from './lock.js';
import type { ServiceState } from './service.js';

/** What the running service of a home says of itself; undefined when none is ready. */
export function readState(paths: Pick<HomePaths, 'service' | 'serviceLock'>): ServiceState | undefined {
  const state = readJson(paths.service) as ServiceState | undefined;
  const holder = lockHolder(paths.serviceLock);
  return state && holder?.pid === state.pid && holder.start === state.processStart ? state : undefined;
}

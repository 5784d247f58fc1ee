import { databaseUsers } from '../devserver/server.js';
import type { HomePaths } from '../settings/paths.js';
import { readJson, writeAtomic } from './files.js';
import { endProcess, isAlive, type ProcessRef, processesWithArgs } from './processes.js';

/** The processes that a service has started, on disk so that they can be ended after it was killed. */
export interface ServiceChildren {
  worker?: ProcessRef;
  temporal?: ProcessRef;
  /** Serves the pages of the UI. */
  pages?: ProcessRef;
}

export interface Leftover {
  ref: ProcessRef;
  graceMs: number;
}

/** ms that a process gets between SIGTERM and SIGKILL. */
export const GRACE = { worker: 10_000, temporal: 5_000 } as const;

export function recordChildren(paths: HomePaths, children: ServiceChildren): void {
  writeAtomic(paths.serviceChildren, JSON.stringify(children));
}

/** What runs of the service that has started last, and of others before it; in the order in which it is to be ended. */
export function leftovers(paths: HomePaths): Leftover[] {
  const { worker, temporal, pages } = readChildren(paths);
  const servers = ownServers(paths);
  if (temporal && !servers.some((ref) => ref.pid === temporal.pid)) servers.push(temporal);
  const all = [
    ...(pages ? [{ ref: pages, graceMs: 0 }] : []),
    ...(worker ? [{ ref: worker, graceMs: GRACE.worker }] : []),
    ...servers.map((ref) => ({ ref, graceMs: GRACE.temporal })),
  ];
  return all.filter(({ ref }) => isAlive(ref));
}

export async function endLeftovers(found: readonly Leftover[]): Promise<void> {
  for (const { ref, graceMs } of found) await endProcess(ref, graceMs);
}

/** Found by their arguments: a service may be killed between starting a server and recording it. */
function ownServers(paths: HomePaths): ProcessRef[] {
  const ours = processesWithArgs(['LonghaulStatus=Keyword']);
  return databaseUsers(paths.temporalDb).filter((ref) => ours.some(({ pid }) => pid === ref.pid));
}

function readChildren(paths: HomePaths): ServiceChildren {
  const value = readJson(paths.serviceChildren) as Record<string, unknown> | undefined;
  const worker = toRef(value?.worker);
  const temporal = toRef(value?.temporal);
  const pages = toRef(value?.pages);
  return { ...(worker && { worker }), ...(temporal && { temporal }), ...(pages && { pages }) };
}

function toRef(value: unknown): ProcessRef | undefined {
  const { pid, start } = (value ?? {}) as Partial<ProcessRef>;
  return typeof pid === 'number' && typeof start === 'string' ? { pid, start } : undefined;
}

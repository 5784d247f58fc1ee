import { rmSync } from 'node:fs';
import { databaseUsers } from '../devserver/server.js';
import type { HomePaths } from '../settings/paths.js';
import { readJson, writeAtomic } from './files.js';
import { endProcess, type ProcessRef, processesWithArgs } from './processes.js';

/** The processes that a service has started, on disk so that they can be ended after it was killed. */
export interface ServiceChildren {
  worker?: ProcessRef;
  temporal?: ProcessRef;
}

/** ms that a process gets between SIGTERM and SIGKILL. */
export const GRACE = { worker: 10_000, temporal: 5_000 } as const;

export function recordChildren(paths: HomePaths, children: ServiceChildren): void {
  writeAtomic(paths.serviceChildren, JSON.stringify(children));
}

/** Ends what a killed service left running, the worker first. Returns how many processes that were. */
export async function endLeftovers(paths: HomePaths): Promise<number> {
  const { worker, temporal } = readChildren(paths);
  const servers = ownServers(paths);
  if (temporal && !servers.some((ref) => ref.pid === temporal.pid)) servers.push(temporal);
  const before = [...(worker ? [worker] : []), ...servers];
  if (worker) await endProcess(worker, GRACE.worker);
  for (const server of servers) await endProcess(server, GRACE.temporal);
  rmSync(paths.serviceChildren, { force: true });
  return before.length;
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
  return { ...(worker && { worker }), ...(temporal && { temporal }) };
}

function toRef(value: unknown): ProcessRef | undefined {
  const { pid, start } = (value ?? {}) as Partial<ProcessRef>;
  return typeof pid === 'number' && typeof start === 'string' ? { pid, start } : undefined;
}

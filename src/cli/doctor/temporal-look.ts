import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CliCandidate, temporalCandidates } from '../../devserver/binary.js';
import { databaseUsers } from '../../devserver/server.js';
import { LonghaulError } from '../../domain/errors.js';
import { LOCAL_SERVER } from '../../journal/rows.js';
import {
  connectTemporal,
  namesServer,
  type TemporalConnection,
  type TemporalTarget,
  temporalTarget,
} from '../../service/connect.js';
import { readJson } from '../../service/files.js';
import { lockHolder } from '../../service/lock.js';
import { isAlive, type ProcessRef } from '../../service/processes.js';
import type { ServiceFailure, ServiceState } from '../../service/service.js';
import { readState } from '../../service/state.js';
import type { HomePaths } from '../../settings/paths.js';
import { reason } from './words.js';

/** ms that a server gets to answer; below the limit of a row. */
const CONNECT_MS = 4_500;

/** ms that a CLI gets to say its version. */
const CLI_MS = 4_000;

interface Caller {
  home: string;
  env: NodeJS.ProcessEnv;
}

export type ServerLook =
  /** The settings that name a server cannot be used. */
  | { state: 'misnamed'; problem: LonghaulError }
  /** No server is named, and the service does not run. */
  | { state: 'down' }
  /** `code` is that of gRPC, when the server itself said no. */
  | { state: 'unreachable'; target: TemporalTarget; why: string; code?: number }
  | { state: 'reachable'; target: TemporalTarget; temporal: TemporalConnection };

/** @param connectMs limit for a server that is silent */
export async function lookAtServer({ home, env }: Caller, connectMs = CONNECT_MS): Promise<ServerLook> {
  const options = { home, env, start: false };
  let target: TemporalTarget;
  try {
    target = await temporalTarget(options);
  } catch (err) {
    if (!LonghaulError.is(err)) throw err;
    return err.slug === 'temporal-unreachable' ? { state: 'down' } : { state: 'misnamed', problem: err };
  }
  try {
    const late = sleep(connectMs, undefined, { ref: false }).then(() => {
      throw new Error(`nothing answered within ${connectMs / 1000} s`);
    });
    return { state: 'reachable', target, temporal: await Promise.race([connectTemporal(options), late]) };
  } catch (err) {
    const cause = LonghaulError.is(err) && err.cause !== undefined ? err.cause : err;
    const code = grpcCode(cause);
    return { state: 'unreachable', target, why: reason(cause), ...(code !== undefined && { code }) };
  }
}

/** How the journal names the server of a look; undefined when there is none. */
export function serverKey(look: ServerLook): string | undefined {
  switch (look.state) {
    case 'misnamed':
      return undefined;
    case 'down':
      return LOCAL_SERVER;
    case 'unreachable':
    case 'reachable': {
      const { embedded, address, namespace } = look.target;
      return embedded ? LOCAL_SERVER : `${address}/${namespace}`;
    }
  }
}

export interface CliLook {
  /** A server is named, so that the CLI is not needed. */
  needed: boolean;
  candidates: CliCandidate[];
}

export async function lookAtCli({ home, env }: Caller): Promise<CliLook> {
  return { needed: !serverNamed(env), candidates: await temporalCandidates({ home, env }, CLI_MS) };
}

export type ServiceLook =
  | { state: 'running'; service: ServiceState }
  /** Its process is there and has not said yet that it is ready, or no longer. */
  | { state: 'between'; pid: number }
  /** It has ended without clearing up; `left` are processes of it that still run. */
  | { state: 'killed'; left: ProcessRef[] }
  | { state: 'failed'; failure: ServiceFailure }
  | { state: 'down' };

export function lookAtService(paths: HomePaths): ServiceLook {
  const holder = lockHolder(paths.serviceLock);
  if (holder) {
    const service = readState(paths);
    return service ? { state: 'running', service } : { state: 'between', pid: holder.pid };
  }
  const children = readJson(paths.serviceChildren) as Record<string, ProcessRef> | undefined;
  const left = [...Object.values(children ?? {}).filter(isAlive), ...databaseUsers(paths.temporalDb)];
  if (existsSync(paths.service) || children || left.length > 0) return { state: 'killed', left: uniqueByPid(left) };
  const failure = readJson(paths.serviceFailure) as ServiceFailure | undefined;
  return failure ? { state: 'failed', failure } : { state: 'down' };
}

/** Settings that cannot be read name one, too. */
export function serverNamed(env: NodeJS.ProcessEnv): boolean {
  try {
    return namesServer(env);
  } catch {
    return true;
  }
}

function uniqueByPid(refs: readonly ProcessRef[]): ProcessRef[] {
  return [...new Map(refs.map((ref) => [ref.pid, ref])).values()];
}

function grpcCode(cause: unknown): number | undefined {
  const code = cause instanceof Error && 'details' in cause && 'code' in cause ? cause.code : undefined;
  return typeof code === 'number' ? code : undefined;
}

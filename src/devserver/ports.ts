import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../domain/errors.js';
import { readJson, writeAtomic } from '../service/files.js';

export interface ServerPorts {
  /** Temporal's frontend (gRPC). */
  grpc: number;
  /** Temporal's web UI. */
  ui: number;
}

/** The variables that fix a port. */
const VARIABLES = { grpc: 'LONGHAUL_TEMPORAL_PORT', ui: 'LONGHAUL_UI_PORT' } as const;

/** Below the ports that systems lend to outgoing connections (from 32768 on Linux, 49152 elsewhere). */
const RANGE = { from: 17_000, to: 32_000 } as const;

/** ms that a former server gets to give its port back. */
const RELEASE_MS = 1_000;

/**
 * The ports for the next start: fixed by the environment, else those remembered in `file`, so that clients find a
 * restarted server; a remembered port that someone else took is replaced. The choice is remembered.
 * @throws LonghaulError `port-taken` for a fixed port that is in use, `bad-settings` for one that is no port
 */
export async function choosePorts(file: string, env: NodeJS.ProcessEnv, refresh = false): Promise<ServerPorts> {
  const kept = refresh ? undefined : keptPorts(file);
  const grpc = await choosePort('grpc', env, kept?.grpc, []);
  const ui = await choosePort('ui', env, kept?.ui, [grpc]);
  if (kept?.grpc !== grpc || kept.ui !== ui) writeAtomic(file, JSON.stringify({ grpc, ui }));
  return { grpc, ui };
}

async function choosePort(
  name: keyof ServerPorts,
  env: NodeJS.ProcessEnv,
  kept: number | undefined,
  used: number[],
): Promise<number> {
  const fixed = fixedPort(name, env);
  if (fixed !== undefined) {
    if (await freeWithin(fixed, RELEASE_MS)) return fixed;
    throw portTaken(fixed, VARIABLES[name]);
  }
  if (kept !== undefined && !used.includes(kept) && (await freeWithin(kept, RELEASE_MS))) return kept;
  for (;;) {
    const port = randomInt(RANGE.from, RANGE.to);
    if (!used.includes(port) && (await isFree(port))) return port;
  }
}

/** The error for a fixed port that another process has. */
export function portTaken(port: number, variable: string): LonghaulError {
  return new LonghaulError('port-taken', `Port ${port} on 127.0.0.1, set by ${variable}, is used by another process.`, {
    kept: 'Tasks and settings are unchanged; the service was not started.',
    next: `End the process that has the port, or set ${variable} to another port, or unset it to have one chosen.`,
  });
}

/** The names of the ports that the environment fixes. */
export function fixedPorts(env: NodeJS.ProcessEnv): string[] {
  return Object.values(VARIABLES).filter((variable) => env[variable]?.trim());
}

function fixedPort(name: keyof ServerPorts, env: NodeJS.ProcessEnv): number | undefined {
  const text = env[VARIABLES[name]]?.trim();
  if (!text) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new LonghaulError('bad-settings', `${VARIABLES[name]} is "${text}", which is not a port number.`, {
    next: 'Set it to a number from 1 to 65535, or unset it.',
  });
}

function keptPorts(file: string): ServerPorts | undefined {
  const value = readJson(file) as Partial<ServerPorts> | undefined;
  return typeof value?.grpc === 'number' && typeof value.ui === 'number'
    ? { grpc: value.grpc, ui: value.ui }
    : undefined;
}

async function freeWithin(port: number, ms: number): Promise<boolean> {
  const until = Date.now() + ms;
  for (;;) {
    if (await isFree(port)) return true;
    if (Date.now() >= until) return false;
    await sleep(50);
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const probe = createServer();
    probe.once('error', () => done(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(true)));
  });
}

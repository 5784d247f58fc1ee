import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../domain/errors.js';
import { readJson, writeAtomic } from '../service/files.js';

/** The ports of a development server, all on 127.0.0.1. */
export interface ServerPorts {
  /** Temporal's frontend (gRPC). */
  grpc: number;
  /** Its HTTP API. */
  http: number;
  /** Its metrics, which it serves in any case. */
  metrics: number;
}

/** The ports that people know: they are remembered, and can be fixed. */
export const PORT_VARIABLES = { grpc: 'LONGHAUL_TEMPORAL_PORT', ui: 'LONGHAUL_UI_PORT' } as const;
type KnownPort = keyof typeof PORT_VARIABLES;

/**
 * Ports above 1023 that browsers connect to in no case: the "bad ports" of the Fetch standard
 * (https://fetch.spec.whatwg.org/#port-blocking).
 */
export const BROWSERS_REFUSE: readonly number[] = [
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/** Below the ports that systems lend to outgoing connections (from 32768 on Linux, 49152 elsewhere). */
const RANGE = { from: 17_000, to: 32_000 } as const;

/** ms that a former server gets to give its port back. */
const RELEASE_MS = 1_000;

/**
 * The ports for the next start. The frontend's is fixed by the environment, else the one remembered in `file`, so that
 * clients find a restarted server; a remembered port that someone else took is replaced.
 * @throws LonghaulError `port-taken` for a fixed port that is in use, `bad-settings` for one that is no port
 */
export async function choosePorts(file: string, env: NodeJS.ProcessEnv, refresh = false): Promise<ServerPorts> {
  const grpc = await chooseKnownPort('grpc', file, env, refresh);
  const http = await freePort([grpc]);
  return { grpc, http, metrics: await metricsPort([grpc, http]) };
}

/** The port of the UI, chosen and remembered as {@link choosePorts} does the frontend's. Throws as that does. */
export function chooseUiPort(file: string, env: NodeJS.ProcessEnv, refresh = false): Promise<number> {
  return chooseKnownPort('ui', file, env, refresh);
}

async function chooseKnownPort(
  name: KnownPort,
  file: string,
  env: NodeJS.ProcessEnv,
  refresh: boolean,
): Promise<number> {
  const fixed = fixedPort(name, env);
  if (fixed !== undefined && !(await freeWithin(fixed, RELEASE_MS))) throw portTaken(fixed, PORT_VARIABLES[name]);
  const kept = keptPorts(file);
  const own = kept[name];
  const others = Object.values(kept).filter((port) => port !== own);
  const again = own !== undefined && !refresh && !others.includes(own) && (await freeWithin(own, RELEASE_MS));
  const port = fixed ?? (again ? own : await freePort(others));
  if (port !== own) writeAtomic(file, JSON.stringify({ ...keptPorts(file), [name]: port }));
  return port;
}

/** A port in which nothing listens now. */
export async function freePort(used: readonly number[] = []): Promise<number> {
  for (;;) {
    const port = randomInt(RANGE.from, RANGE.to);
    if (!used.includes(port) && (await isFree(port))) return port;
  }
}

/** The metrics cannot be switched off and answer whoever asks; where possible no browser can ask. */
async function metricsPort(used: readonly number[]): Promise<number> {
  const start = randomInt(BROWSERS_REFUSE.length);
  const inTurn = [...BROWSERS_REFUSE.slice(start), ...BROWSERS_REFUSE.slice(0, start)];
  for (const port of inTurn) if (!used.includes(port) && (await isFree(port))) return port;
  return freePort(used);
}

/** The error for a fixed port that another process has. */
export function portTaken(port: number, variable: string): LonghaulError {
  return new LonghaulError('port-taken', `Port ${port} on 127.0.0.1, set by ${variable}, is used by another process.`, {
    kept: 'Tasks and settings are unchanged; the service was not started.',
    next: `End the process that has the port, or set ${variable} to another port, or unset it to have one chosen.`,
  });
}

/** Whether the environment fixes a port. */
export const isFixed = (name: KnownPort, env: NodeJS.ProcessEnv): boolean => Boolean(env[PORT_VARIABLES[name]]?.trim());

function fixedPort(name: KnownPort, env: NodeJS.ProcessEnv): number | undefined {
  const text = env[PORT_VARIABLES[name]]?.trim();
  if (!text) return undefined;
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new LonghaulError('bad-settings', `${PORT_VARIABLES[name]} is "${text}", which is not a port number.`, {
    next: 'Set it to a number from 1 to 65535, or unset it.',
  });
}

function keptPorts(file: string): Partial<Record<KnownPort, number>> {
  const value = readJson(file) as Record<string, unknown> | undefined;
  const names = Object.keys(PORT_VARIABLES) as KnownPort[];
  return Object.fromEntries(names.flatMap((name) => (typeof value?.[name] === 'number' ? [[name, value[name]]] : [])));
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

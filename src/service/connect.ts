import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { NativeConnectionOptions } from '@temporalio/worker';
import { NAMESPACE } from '../devserver/flags.js';
import { LonghaulError, messageOf } from '../domain/errors.js';
import { retriesUntilClosed } from './closed-channel.js';
import { loadSettings, namedUi, namesServer } from './named-server.js';
import { EMBEDDED_VARIABLE } from './service.js';
import { readService, up } from './up.js';

/** A restarted server is found within about a second (the default backs off to a minute); answers of any size. */
const CHANNEL_ARGS = {
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.max_receive_message_length': -1,
};

/** ms until a server must have answered; ours may be just starting again on a busy machine. */
const CONNECT_MS = { embedded: 15_000, named: 6_000 } as const;

export { namesServer };

export interface TargetOptions {
  home: string;
  env: NodeJS.ProcessEnv;
  /** Start the embedded service when it does not run. Default true. */
  start?: boolean;
  /** Gets a line for people before something slow. */
  log?: (line: string) => void;
  /** Gets what has been fetched of the server, in bytes; `total` where it is known. */
  progress?: (bytes: number, total: number | undefined) => void;
}

/** Where Temporal is, and how to get in. */
export interface TemporalTarget {
  address: string;
  namespace: string;
  /** Longhaul's own development server. */
  embedded: boolean;
  /** Address of Temporal's web UI, where it is known. */
  ui?: string;
  options: Pick<NativeConnectionOptions, 'tls' | 'apiKey' | 'metadata'>;
}

export interface TemporalConnection {
  connection: Connection;
  client: Client;
  address: string;
  namespace: string;
  embedded: boolean;
  ui?: string;
  close(): Promise<void>;
}

/** Options of `NativeConnection.connect` for a worker, and the namespace to work in. */
export interface WorkerConnection {
  options: NativeConnectionOptions;
  namespace: string;
  address: string;
  embedded: boolean;
}

/**
 * A client for the server that the environment or Temporal's profile file names, else for the embedded service, which
 * is started when needed.
 * @throws LonghaulError `temporal-unreachable`, `bad-settings`, and what `up` throws
 */
export async function connectTemporal(options: TargetOptions): Promise<TemporalConnection> {
  const target = await temporalTarget(options);
  try {
    return await connectTo(target);
  } catch (err) {
    // the service may have ended between being found and being called
    if (
      target.embedded &&
      options.start !== false &&
      !options.env[EMBEDDED_VARIABLE] &&
      !(await readService(options.home))
    )
      return connectTo(await temporalTarget(options));
    throw err;
  }
}

/** What a worker process connects to: the same server as {@link connectTemporal}. */
export async function workerConnection(options: TargetOptions): Promise<WorkerConnection> {
  const { address, namespace, embedded, options: access } = await temporalTarget(options);
  return { options: { address, ...access }, namespace, address, embedded };
}

/** The server that these settings lead to. */
export async function temporalTarget(options: TargetOptions): Promise<TemporalTarget> {
  const { home, env, start } = options;
  const settings = loadSettings(env);
  if (settings) {
    const { address = 'localhost:7233', tls, apiKey, metadata } = settings.connectionOptions;
    const ui = namedUi(env);
    return {
      address,
      namespace: settings.namespace ?? NAMESPACE,
      embedded: Boolean(env[EMBEDDED_VARIABLE]),
      ...(ui !== undefined && { ui }),
      options: {
        ...(tls !== undefined && { tls }),
        ...(apiKey !== undefined && { apiKey }),
        ...(metadata && { metadata }),
      },
    };
  }
  const state = start === false ? await readService(home) : await up(options);
  if (!state) {
    throw new LonghaulError('temporal-unreachable', 'The Longhaul service is not running.', {
      kept: 'Tasks are kept; they go on when it runs.',
      next: 'Start it with `longhaul up`.',
    });
  }
  return { address: state.address, namespace: state.namespace, embedded: true, ui: state.ui, options: {} };
}

async function connectTo(target: TemporalTarget): Promise<TemporalConnection> {
  const { address, namespace, embedded, ui, options } = target;
  const limit = embedded ? CONNECT_MS.embedded : CONNECT_MS.named;
  let connection: Connection | undefined;
  try {
    if (!embedded) await refusedSoon(address);
    connection = await Connection.connect({
      address,
      ...options,
      channelArgs: CHANNEL_ARGS,
      interceptors: retriesUntilClosed(),
      connectTimeout: limit,
    });
    const open = connection;
    await open.withDeadline(Date.now() + limit, () => open.workflowService.describeNamespace({ namespace }));
  } catch (err) {
    await connection?.close();
    throw unreachable(target, err);
  }
  const client = new Client({ connection, namespace });
  const open = connection;
  return { connection, client, address, namespace, embedded, ...(ui && { ui }), close: () => open.close() };
}

/** Tries of the port that must all be refused before an address counts as one where nothing listens. */
const REFUSED_TRIES = 3;

/** Where a proxy is set, the address is not connected to from here. */
const PROXY = /^(grpc|https?|all)_proxy$/i;

/** The client goes on trying until its time is over, also where nothing listens: this says so at once. */
async function refusedSoon(address: string): Promise<void> {
  const [, host, port] = /^(?:https?:\/\/)?\[?([^/]+?)\]?:(\d+)$/.exec(address) ?? [];
  if (!host || !port || Object.keys(process.env).some((name) => PROXY.test(name))) return;
  for (let tries = 1; ; tries++) {
    if (!(await refuses(host, Number(port)))) return;
    if (tries === REFUSED_TRIES) throw new Error('the connection was refused (ECONNREFUSED)');
    await sleep(300);
  }
}

function refuses(host: string, port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ host, port });
    const answer = (refused: boolean): void => {
      socket.destroy();
      done(refused);
    };
    socket.once('connect', () => answer(false));
    socket.once('error', (err: NodeJS.ErrnoException) => answer(err.code === 'ECONNREFUSED'));
    socket.setTimeout(1_000, () => answer(false));
  });
}

/** Why the server cannot be used, for people. */
export function unreachable(
  { address, namespace, embedded }: Pick<TemporalTarget, 'address' | 'namespace' | 'embedded'>,
  cause: unknown,
): LonghaulError {
  const reason = messageOf(cause);
  return new LonghaulError(
    'temporal-unreachable',
    `Temporal at ${address} (namespace ${namespace}) cannot be used: ${reason}`,
    {
      kept: 'Tasks are kept by Temporal; they go on when it can be reached.',
      next: embedded
        ? 'Look at `longhaul doctor`, or start the service again with `longhaul down` and `longhaul up`.'
        : 'Check the address, the namespace and the access settings (TEMPORAL_* variables or the profile file).',
      cause,
    },
  );
}

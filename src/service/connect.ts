import { existsSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { type ClientConnectConfig, loadClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnectionOptions } from '@temporalio/worker';
import { NAMESPACE } from '../devserver/flags.js';
import { LonghaulError } from '../domain/errors.js';
import { EMBEDDED_VARIABLE } from './service.js';
import { readService, up } from './up.js';

/** Temporal's standard variables; any of them means that a person has named a server. */
const STANDARD_VARIABLES = /^TEMPORAL_(ADDRESS|NAMESPACE|API_KEY|TLS|TLS_.+|PROFILE|CONFIG_FILE|GRPC_META_.+)$/;

/** A restarted server is found within about a second (the default backs off to a minute); answers of any size. */
const CHANNEL_ARGS = {
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.max_receive_message_length': -1,
};

/** ms until a server must have answered; ours may be just starting again on a busy machine. */
const CONNECT_MS = { embedded: 15_000, named: 6_000 } as const;

export interface TargetOptions {
  home: string;
  env: NodeJS.ProcessEnv;
  /** Start the embedded service when it does not run. Default true. */
  start?: boolean;
  /** Gets a line for people before something slow. */
  log?: (line: string) => void;
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

/** Whether Temporal's standard settings name a server, so that the embedded service is not used. */
export function namesServer(env: NodeJS.ProcessEnv): boolean {
  return env[EMBEDDED_VARIABLE] ? false : loadSettings(env) !== undefined;
}

/** The server that these settings lead to. */
export async function temporalTarget(options: TargetOptions): Promise<TemporalTarget> {
  const { home, env, start } = options;
  const settings = loadSettings(env);
  if (settings) {
    const { address = 'localhost:7233', tls, apiKey, metadata } = settings.connectionOptions;
    return {
      address,
      namespace: settings.namespace ?? NAMESPACE,
      embedded: Boolean(env[EMBEDDED_VARIABLE]),
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

function loadSettings(env: NodeJS.ProcessEnv): ClientConnectConfig | undefined {
  // an empty variable counts as unset, as in a shell script that blanks it
  const set = Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]?.trim()));
  const variables = Object.fromEntries(set);
  const file = variables.TEMPORAL_CONFIG_FILE;
  if (file !== undefined && !existsSync(file))
    throw badSettings(`TEMPORAL_CONFIG_FILE names ${file}, which is not there.`);
  let config: ClientConnectConfig;
  try {
    config = loadClientConnectConfig({ overrideEnvVars: variables });
  } catch (err) {
    throw badSettings(`Temporal's settings cannot be used: ${err instanceof Error ? err.message : String(err)}`);
  }
  const named = set.some(([name]) => STANDARD_VARIABLES.test(name));
  return named || config.connectionOptions.address !== undefined ? config : undefined;
}

function badSettings(message: string): LonghaulError {
  return new LonghaulError('bad-settings', message, {
    next: 'Correct the TEMPORAL_* variables or the profile file; without any, the embedded service is used.',
  });
}

async function connectTo(target: TemporalTarget): Promise<TemporalConnection> {
  const { address, namespace, embedded, ui, options } = target;
  const limit = embedded ? CONNECT_MS.embedded : CONNECT_MS.named;
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ address, ...options, channelArgs: CHANNEL_ARGS, connectTimeout: limit });
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

function unreachable({ address, namespace, embedded }: TemporalTarget, cause: unknown): LonghaulError {
  const reason = cause instanceof Error ? cause.message : String(cause);
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

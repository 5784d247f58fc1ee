import type { ServerPorts } from './ports.js';

/** Name of the namespace that the development server creates. */
export const NAMESPACE = 'default';

/** Hours that closed workflows are kept; the server's default is 24. */
export const RETENTION_HOURS = 720;

/** Search attributes that a task sets, with their types as the server names them. */
export const SEARCH_ATTRIBUTES = {
  LonghaulStatus: 'Keyword',
  LonghaulAsk: 'Keyword',
  LonghaulWaitingSince: 'Datetime',
} as const;

const DYNAMIC_CONFIG = [
  // the default adds up to 50 ms to an activity
  'history.transferProcessorMaxPollRPS=2000',
  // else a run that follows within a second is delayed
  'history.workflowIdReuseMinimalInterval="0s"',
  // both: a cancel reaches an activity in tens of ms, without waiting for its heartbeat
  'system.enableCancelActivityWorkerCommand=true',
  'frontend.WorkerCommandsEnabled=true',
];

/**
 * The command line of the development server. WAL with FULL: as fast as memory, and safe through a power loss. Its own
 * UI is left out, as that answers to any `Host`.
 *
 * @param apiHost the only `Host` to which the HTTP API answers: else any web page may send signals, that is, answers to
 * asks, through it
 */
export function serverFlags(database: string, ports: ServerPorts, apiHost: string): string[] {
  const flags = ['server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--log-level', 'error'];
  flags.push('--port', String(ports.grpc), '--http-port', String(ports.http), '--metrics-port', String(ports.metrics));
  flags.push('--db-filename', database, '--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=FULL');
  const settings = [...DYNAMIC_CONFIG, `frontend.httpAllowedHosts=["${apiHost}"]`];
  for (const value of settings) flags.push('--dynamic-config-value', value);
  for (const [name, type] of Object.entries(SEARCH_ATTRIBUTES)) flags.push('--search-attribute', `${name}=${type}`);
  return flags;
}

/** The command line of a server without tasks, in memory, that serves the pages of Temporal's UI. */
export function pageServerFlags(grpc: number, ui: number, optional: string[]): string[] {
  const flags = ['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(grpc), '--ui-port', String(ui)];
  const closed = ['--dynamic-config-value', 'frontend.httpAllowedHosts=["none.invalid"]'];
  return [...flags, ...closed, '--log-level', 'never', ...optional];
}

/** Flags that are passed when this CLI knows them. */
export const OPTIONAL_FLAGS = ['--ui-disable-news-fetch'];

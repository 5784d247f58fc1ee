import type { WorkerRole } from '../domain/queues.js';

export interface WorkerLogEntry {
  level: 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  message: string;
  /** ms since the epoch */
  at: number;
  /** What the message is about, such as ids. */
  meta?: Record<string, unknown>;
}

export type WorkerLog = (entry: WorkerLogEntry) => void;

export interface WorkerOptions {
  /** Default `all`. */
  role?: WorkerRole;
  /**
   * Name of the machine whose folders the worker works in; default `LONGHAUL_HOST`, else the host name. Workers that
   * use one home at the same time have a name each.
   */
  host?: string;
  /** Folder of the journal; default `LONGHAUL_HOME`, else `~/.longhaul`. */
  home?: string;
  /** Where Temporal's and the provider's settings are read from; default `process.env`. */
  env?: NodeJS.ProcessEnv;
  /** Gets warnings and errors, and with `LONGHAUL_DEBUG` more; default: they are written to stderr. */
  log?: WorkerLog;
  /** Signals that shut the worker down; default none. */
  signals?: readonly NodeJS.Signals[];
}

/** A worker in this process. */
export interface LonghaulWorker {
  /** `host:port` of Temporal. */
  readonly address: string;
  readonly namespace: string;
  readonly role: WorkerRole;
  readonly host: string;
  /**
   * Works until `shutdown`; further calls return the same promise.
   * @throws LonghaulError `journal-lost` at once when the journal is removed or replaced; Temporal's error when the worker fails
   */
  run(): Promise<void>;
  /**
   * Lets running activities end for 3 s and leaves the rest to a successor. Resolves when nothing of the worker is left:
   * its connections, its timers, its lease of the host. Also for a worker that was never run.
   */
  shutdown(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

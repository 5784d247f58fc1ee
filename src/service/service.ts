import type { EnvironmentRecord } from './environment.js';

/** What `service.json` says of the running background service; written by it when it is ready, and at each change. */
export interface ServiceState {
  pid: number;
  /** Tells this life of the process from others with the same pid. */
  processStart: string;
  /** `host:port` of Temporal's frontend. */
  address: string;
  namespace: string;
  /** Address of Temporal's web UI, such as `http://127.0.0.1:8233`. */
  ui: string;
  /** Version of the package that the service runs. */
  version: string;
  /** Its build: the same version may have been built again. */
  build: string;
  /** Folder of the package. */
  root: string;
  /** ms since the epoch */
  started: number;
  /** Missing while there is no such process. */
  temporalPid?: number;
  /** Missing while there is no such process. */
  workerPid?: number;
  /** The last time that the Temporal server ended, or did not start. */
  temporalTrouble?: ChildTrouble;
  /** The last time that the worker ended, or did not start. */
  workerTrouble?: ChildTrouble;
  /** What callers compare their environment with; no values. */
  environment: EnvironmentRecord;
}

/** How a child of the service ended, or did not start. */
export interface ChildTrouble {
  /** ms since the epoch */
  at: number;
  /** How often in a row it did not last. */
  times: number;
  message: string;
}

/** ms that a child must live to have lasted. */
export const LASTING_MS = 30_000;

/** Short lives in a row from which a child counts as failing: a single kill is mended within a second or two. */
const FAILING_TIMES = 3;

/** Whether a child does not come up, or does not stay up. */
export function isFailing(pid: number | undefined, { at, times }: ChildTrouble, now = Date.now()): boolean {
  return times >= FAILING_TIMES && (pid === undefined || now - at < LASTING_MS);
}

/** What a failed start of the service leaves for those who wait for it. */
export interface ServiceFailure {
  /** ms since the epoch */
  at: number;
  /** Of an error page, when it is a known one. */
  slug: string;
  message: string;
  kept?: string | undefined;
  next?: string | undefined;
}

/** Exit code of a service process that found another one running. */
export const BUSY_EXIT = 75;

/** Set, beside `TEMPORAL_ADDRESS`, for a worker of the embedded service: the address is that of our own server. */
export const EMBEDDED_VARIABLE = 'LONGHAUL_EMBEDDED';

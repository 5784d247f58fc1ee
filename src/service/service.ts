/** What `service.json` says of the running background service; written by it when it is ready. */
export interface ServiceState {
  pid: number;
  /** `host:port` of Temporal's frontend. */
  address: string;
  namespace: string;
  /** Address of Temporal's web UI, such as `http://127.0.0.1:8233`. */
  ui: string;
  /** Version of the package that the service runs. */
  version: string;
  /** ms since the epoch */
  started: number;
  temporalPid: number;
  workerPid: number;
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

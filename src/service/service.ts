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

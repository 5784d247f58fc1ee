import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, parse } from 'node:path';
import { findTemporal } from '../../src/devserver/binary.js';
import { type DevServer, startDevServer } from '../../src/devserver/server.js';
import { openUiGate, type UiGate } from '../../src/devserver/ui-gate.js';
import { UiPages } from '../../src/devserver/ui-pages.js';
import { homePaths } from '../../src/settings/paths.js';

/** A real Temporal server with the product's flags, on a database file of its own. */
export interface TestServer {
  /** `host:port`; the same after a restart. */
  readonly address: string;
  readonly namespace: string;
  readonly pid: number;
  /** Opens Temporal's UI as the service does; closed by `stop`. */
  ui(): Promise<string>;
  /** Ends it with SIGTERM and starts it again on the same database and address. */
  restart(): Promise<void>;
  /** Ends it, deletes its database, and starts an empty one at the same address. */
  wipe(): Promise<void>;
  /** Kills it with SIGKILL and waits until it is gone; `restart` brings it back. */
  kill9(): Promise<void>;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

export async function startTestServer(): Promise<TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-temporal-'));
  const paths = homePaths(folder);
  const binary = await findTemporal({ env: process.env, home: folder });
  const start = (): Promise<DevServer> =>
    startDevServer({ binary, paths, logFile: join(paths.logs, 'temporal.log'), env: {} });
  let server = await start();
  let gate: UiGate | undefined;
  const pages = new UiPages({ binary: async () => binary, env: {} });
  return {
    get address() {
      return server.address;
    },
    get namespace() {
      return server.namespace;
    },
    get pid() {
      return server.pid;
    },
    ui: async () => {
      gate ??= await openUiGate({ portsFile: paths.temporalPorts, env: {}, api: () => server.api, pages });
      return gate.url;
    },
    restart: async () => {
      await server.stop(5_000);
      server = await start();
    },
    wipe: async () => {
      await server.stop(5_000);
      const { dir, base } = parse(paths.temporalDb);
      for (const file of readdirSync(dir)) if (file.startsWith(base)) rmSync(join(dir, file));
      server = await start();
    },
    kill9: async () => {
      process.kill(server.pid, 'SIGKILL');
      await server.exited;
    },
    stop: async () => {
      await gate?.close();
      await pages.stop();
      await server.stop(5_000);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

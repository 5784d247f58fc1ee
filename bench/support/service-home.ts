import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { TaskClient } from '../../src/client.js';
import { connectTemporal } from '../../src/service/connect.js';
import type { ServiceState } from '../../src/service/service.js';
import { readService } from '../../src/service/up.js';
import { homePaths } from '../../src/settings/paths.js';
import { type CliResult, cleanEnv, modelEnv, runCli } from '../../test/support/world.js';
import { check } from './report.js';

/** A new home whose service is the embedded one, as people have it. */
export interface ServiceHome {
  home: string;
  env: NodeJS.ProcessEnv;
  /** Runs the command line. @throws BenchFailed unless it ends with code 0 */
  cli(...args: string[]): Promise<CliResult>;
  /** Of the running service. @throws BenchFailed when none runs */
  state(): Promise<ServiceState>;
  /** @returns the client, and the one of Temporal beneath it */
  connect(): Promise<{ client: TaskClient; temporal: Client; close(): Promise<void> }>;
  /** A new folder for a task, with a `notes.txt` of a few lines. */
  workspace(): string;
  /** Bytes of the journal. */
  journalBytes(): number;
  /** Ends the service and removes the home. */
  remove(): Promise<void>;
}

export function newServiceHome(model: { url: string }): ServiceHome {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-bench-'));
  const home = join(folder, 'home');
  const env = modelEnv({ ...cleanEnv(), LONGHAUL_HOME: home }, model);
  let workspaces = 0;
  return {
    home,
    env,
    cli: async (...args) => {
      const result = await runCli(args, env);
      check(result.code === 0, `longhaul ${args.join(' ')} has ended with code ${result.code}: ${result.err}`);
      return result;
    },
    state: async () => {
      const state = await readService(home);
      check(state !== undefined, `No service runs for ${home}.`);
      return state;
    },
    connect: async () => {
      const client = await TaskClient.connect({ home, env });
      const { connection, namespace } = await connectTemporal({ home, env });
      return {
        client,
        temporal: new Client({ connection, namespace }),
        close: async () => {
          await connection.close();
          await client.close();
        },
      };
    },
    workspace: () => {
      const workspace = join(folder, `work-${++workspaces}`);
      mkdirSync(workspace);
      writeFileSync(join(workspace, 'notes.txt'), 'One line.\nAnother line.\n');
      return workspace;
    },
    journalBytes: () => {
      const { journal } = homePaths(home);
      const sizes = [journal, `${journal}-wal`].map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
      return sizes.reduce((total, size) => total + size, 0);
    },
    remove: async () => {
      await runCli(['down'], env);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

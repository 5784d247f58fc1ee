import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { LonghaulError } from '../domain/errors.js';
import { didYouMean } from '../domain/nearest.js';
import { readGivenFile } from '../workspace/given-file.js';
import { isInside } from '../workspace/paths.js';
import { placeOf, readJson } from './json.js';
import { homePaths } from './paths.js';
import { keysAt, type PartialSettings, readSettings, type SettingsProblem } from './schema.js';
import { loosened } from './workspace-rules.js';

/** Largest settings file, bytes. */
const MAX_FILE_BYTES = 256 * 1024;
/** Problems that one error names. */
const MAX_PROBLEMS = 5;

/** Of the workspace, below its folder. */
export const WORKSPACE_FILE = join('.longhaul', 'settings.json');

/**
 * The settings of `$LONGHAUL_HOME/settings.json`; none when there is no such file.
 * @throws LonghaulError `bad-settings` that names file, line and column
 */
export async function readHomeSettings(path: string): Promise<PartialSettings> {
  return (await readFileAt(path, path, () => [])) ?? {};
}

/** The profile that they name; a file that is wrong names none, which the start of a task says. */
export async function homeProfile(home: string): Promise<string | undefined> {
  return (await readHomeSettings(homePaths(home).settings).catch(() => ({}) as PartialSettings)).profile;
}

/**
 * The settings of a workspace's own file, which whoever wrote the code may have written: it may only tighten.
 * @param workspace real path
 * @param homeFile where the home's settings are: a home inside the workspace is not read as its file
 * @throws LonghaulError `bad-settings`
 */
export async function readWorkspaceSettings(workspace: string, homeFile: string): Promise<PartialSettings> {
  const path = join(workspace, WORKSPACE_FILE);
  const real = await realpath(path).catch((err: NodeJS.ErrnoException) => {
    if (err.code === 'ENOENT' || err.code === 'ENOTDIR') return undefined;
    throw badSettings(`${path} cannot be read (${err.code}).`);
  });
  if (real === undefined || real === (await realpath(homeFile).catch(() => undefined))) return {};
  if (!isInside(workspace, real)) throw badSettings(`${path} is a link that leads out of the workspace.`);
  return (await readFileAt(path, real, loosened)) ?? {};
}

/**
 * @param path as people know it; `real` is read
 * @param judge what a source may not say although it is well formed
 */
async function readFileAt(
  path: string,
  real: string,
  judge: (settings: PartialSettings) => SettingsProblem[],
): Promise<PartialSettings | undefined> {
  const read = await readGivenFile(real, MAX_FILE_BYTES);
  if ('problem' in read) {
    if (read.missing) return undefined;
    throw badSettings(`${path} ${read.problem}.`);
  }
  const text = decode(read.bytes, path);
  const json = readJson(text);
  const at = (offset: number) => {
    const { line, column } = placeOf(text, offset);
    return `${path}:${line}:${column}`;
  };
  if ('message' in json) throw badSettings(`${at(json.offset)}: this is not JSON: ${json.message}.`);
  const found = readSettings(json.value);
  const problems = 'problems' in found ? found.problems : judge(found.settings);
  if (problems.length === 0 && 'settings' in found) return found.settings;
  const said = problems
    .slice(0, MAX_PROBLEMS)
    .map((one) => `${at(json.offsetOf(one.path, one.key))}: ${sentence(one)}`);
  const more = problems.length > MAX_PROBLEMS ? ` There are ${problems.length - MAX_PROBLEMS} more.` : '';
  throw badSettings(said.join('\n') + more);
}

function sentence({ path, key, message }: SettingsProblem): string {
  const full = [...path, ...(key === undefined ? [] : [key])].map(String).join('.').slice(0, 200);
  const what = full === '' ? 'the file' : `"${full}"`;
  return `${what} ${message}.${key === undefined ? '' : didYouMean(key, keysAt(path))}`;
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badSettings(`${path} is not UTF-8 text.`);
  }
}

function badSettings(message: string): LonghaulError {
  return new LonghaulError('bad-settings', message, {
    kept: 'No task was started.',
    next: 'Correct or remove the file; docs/settings.md has every key.',
  });
}

import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LonghaulError } from '../domain/errors.js';
import { homePaths } from '../settings/paths.js';
import { checkProfile, ENV_PROFILE, isHashed, isUsable, profileFromEnv, saveProfile } from './profiles.js';

/** The profile of shells without provider settings of their own. */
export const DEFAULT_PROFILE = 'default';

/** Names a profile for one shell. */
export const PROFILE_VARIABLE = 'LONGHAUL_PROFILE';

/** @throws LonghaulError `bad-flag` for a name that no profile may be saved under */
export function checkProfileName(name: string): void {
  const problem = !/^[a-zA-Z0-9][a-zA-Z0-9._-]{0,59}$/.test(name)
    ? 'A profile name has 1 to 60 letters, digits, dots, underscores and hyphens, and begins with a letter or a digit'
    : name === ENV_PROFILE
      ? `"${ENV_PROFILE}" stands for a worker's own environment`
      : name === 'shell'
        ? '"shell" stands for the settings of a shell'
        : isHashed(name)
          ? 'Names like this one are given to the settings of shells'
          : undefined;
  if (problem === undefined) return;
  throw new LonghaulError('bad-flag', `${problem}: ${name}`, {
    kept: 'Nothing was saved.',
    next: 'Take another name, such as "work".',
  });
}

/** Names of all stored profiles, sorted; those of shells' settings (`p-…`) are among them. */
export async function profileNames(home: string): Promise<string[]> {
  const names = await readdir(homePaths(home).profiles).catch(() => []);
  return names.flatMap((file) => (/^[a-zA-Z0-9._-]+\.json$/.test(file) ? [file.slice(0, -'.json'.length)] : [])).sort();
}

/** Whether a task with this profile finds it; that of a worker's environment is not looked for from here. */
export function hasProfile(home: string, name: string): boolean {
  return name === ENV_PROFILE || existsSync(profileFile(home, name));
}

export async function removeProfile(home: string, name: string): Promise<void> {
  await rm(profileFile(home, name), { force: true });
}

export function profileFile(home: string, name: string): string {
  return join(homePaths(home).profiles, `${name}.json`);
}

/** Where a command takes its provider settings from. */
export type ProfileChoice = { from: 'flag' | 'variable' | 'settings' | 'default'; name: string } | { from: 'shell' };

/** How programs are told of a choice. */
export function nameOf(choice: ProfileChoice): string {
  return choice.from === 'shell' ? 'shell' : choice.name;
}

/**
 * What names a profile for Longhaul alone goes before what is meant for every program: `--profile`, then
 * `LONGHAUL_PROFILE`, then the home's `settings.json`, then the shell's `ANTHROPIC_*`, then the profile `default`.
 *
 * @param named the value of `--profile`
 * @param settings what the home's `settings.json` says
 * @throws LonghaulError `profile-unknown` when a name that was given has no profile
 */
export function chooseProfile(
  home: string,
  env: NodeJS.ProcessEnv,
  named?: string,
  settings?: string,
): ProfileChoice | undefined {
  const variable = env[PROFILE_VARIABLE]?.trim();
  if (named !== undefined) return known(home, { from: 'flag', name: named });
  if (variable) return known(home, { from: 'variable', name: variable });
  if (settings !== undefined) return known(home, { from: 'settings', name: settings });
  if (isUsable(profileFromEnv(env))) return { from: 'shell' };
  return hasProfile(home, DEFAULT_PROFILE) ? { from: 'default', name: DEFAULT_PROFILE } : undefined;
}

/** The name of the chosen profile; the shell's own settings are stored under one. @throws LonghaulError `bad-settings`, `journal-unwritable` */
export async function chosenName(home: string, env: NodeJS.ProcessEnv, choice: ProfileChoice): Promise<string> {
  if (choice.from !== 'shell') return choice.name;
  const profile = profileFromEnv(env);
  checkProfile(profile);
  return saveProfile(home, profile);
}

function known(home: string, choice: Extract<ProfileChoice, { name: string }>): ProfileChoice {
  const { from, name } = choice;
  if (/^[a-zA-Z0-9._-]{1,100}$/.test(name) && hasProfile(home, name)) return choice;
  const by = { variable: PROFILE_VARIABLE, settings: 'settings.json', flag: undefined, default: undefined }[from];
  throw unknownProfile(name, by === undefined ? '' : ` ${by} names it.`);
}

export function unknownProfile(name: string, why = ''): LonghaulError {
  return new LonghaulError('profile-unknown', `There is no provider profile "${name}".${why}`, {
    kept: 'Nothing was started or changed.',
    next: '`longhaul profile list` lists them; `longhaul profile save NAME` saves the settings of this shell as one.',
  });
}

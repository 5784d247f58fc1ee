import { LonghaulError } from '../../domain/errors.js';
import { chooseProfile, nameOf } from '../../model/named-profiles.js';
import { checkProfile, ENV_PROFILE, loadProfile, type Profile, profileFromEnv } from '../../model/profiles.js';
import { homePaths } from '../../settings/paths.js';
import { readHomeSettings } from '../../settings/read.js';
import { serverNamed } from './temporal-look.js';

/** The provider settings that a task started from here would get. */
export type SettingsLook =
  | { from: 'shell'; name: 'shell'; profile: Profile }
  /** A saved profile, named by `LONGHAUL_PROFILE` or the home's settings, or used as there is nothing else. */
  | { from: 'variable' | 'settings' | 'default'; name: string; profile: Profile }
  /** Those that workers have in their environment. */
  | { from: 'workers'; name: typeof ENV_PROFILE; profile: Profile }
  | { from: 'nowhere'; name: null; profile: Profile }
  /** What is named is not there. */
  | { from: 'missing'; name: null; profile: Profile; problem: LonghaulError };

export async function lookAtSettings(home: string, env: NodeJS.ProcessEnv): Promise<SettingsLook> {
  try {
    const { profile } = await readHomeSettings(homePaths(home).settings);
    const choice = chooseProfile(home, env, undefined, profile);
    const name = choice ? nameOf(choice) : serverNamed(env) ? ENV_PROFILE : null;
    if (name === ENV_PROFILE) return { from: 'workers', name, profile: {} };
    if (!choice || choice.from === 'flag') return { from: 'nowhere', name: null, profile: {} };
    if (choice.from === 'shell') return { from: 'shell', name: 'shell', profile: profileFromEnv(env) };
    return { ...choice, from: choice.from, profile: await loadProfile(home, env, choice.name) };
  } catch (problem) {
    if (!LonghaulError.is(problem)) throw problem;
    return { from: 'missing', name: null, profile: {}, problem };
  }
}

/** Why no request can be sent with these settings; undefined when one can. */
export function unsendable(profile: Profile): LonghaulError | undefined {
  try {
    checkProfile(profile);
    return undefined;
  } catch (err) {
    if (LonghaulError.is(err)) return err;
    throw err;
  }
}

/** What to do about settings, which a saved profile takes from the shell. */
export function remedyFor({ from, name }: Pick<SettingsLook, 'from' | 'name'>, next: string): string {
  const saved = from === 'variable' || from === 'settings' || from === 'default';
  return saved && next.includes('ANTHROPIC_') ? `${next} Then save it: \`longhaul profile save ${name}\`.` : next;
}

import { LonghaulError } from '../../domain/errors.js';
import { checkProfile, isUsable, type Profile, profileFromEnv } from '../../model/profiles.js';
import { shownAddress } from './hide.js';
import { bad, type Check, type Finding, ok, warn } from './row.js';
import { serverNamed } from './temporal-look.js';

export const DEFAULT_ADDRESS = 'https://api.anthropic.com';

/** The provider settings that a task started from here would get. */
export function settingsInUse(env: NodeJS.ProcessEnv): Profile {
  return profileFromEnv(env);
}

export const keysCheck: Check = {
  name: 'keys',
  look: async ({ env }) => keysFinding(settingsInUse(env), serverNamed(env)),
};

/** @param elsewhere a server is named, whose workers may hold the keys */
export function keysFinding(profile: Profile, elsewhere: boolean): Finding {
  try {
    checkProfile(profile);
  } catch (err) {
    if (!LonghaulError.is(err)) throw err;
    const { baseURL } = profile;
    // what stands there instead of an address may be a key
    const message = baseURL === undefined ? err.message : err.message.replaceAll(baseURL, '(not shown)');
    return bad(message, err.next ?? 'Correct it.');
  }
  const set = [
    ...(profile.apiKey === undefined ? [] : ['ANTHROPIC_API_KEY is set']),
    ...(profile.authToken === undefined ? [] : ['ANTHROPIC_AUTH_TOKEN is set']),
  ];
  const address = `for ${shownAddress(profile.baseURL ?? DEFAULT_ADDRESS)}`;
  if (set.length > 0) return ok(`${set.join(', ')}, ${address}`);
  if (isUsable(profile)) return ok(`not set, ${address}: a server of your own may need none`);
  if (elsewhere) return ok('not set here; tasks use those of the workers');
  return warn(
    'not set',
    'Set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server of your own. The demo (`npm start`) needs neither.',
  );
}

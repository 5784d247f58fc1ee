import { LonghaulError } from '../../domain/errors.js';
import { checkProfile, isUsable, type Profile } from '../../model/profiles.js';
import { type Reached, reachProvider } from '../../model/reach.js';
import { DEFAULT_ADDRESS, settingsInUse } from './keys.js';

/** ms that the provider gets to answer; below the limit of a row. */
const ANSWER_MS = 4_500;

export interface ModelLook {
  /** Base URL of the requests, as it is set. */
  address: string;
  /** A key or token goes with them. */
  withKey: boolean;
  /** A proxy is set that Node does not use. */
  unusedProxy?: string;
  reached: Reached;
}

/** @returns undefined where no request can be sent, which the row about keys explains */
export async function lookAtModel(env: NodeJS.ProcessEnv, answerMs = ANSWER_MS): Promise<ModelLook | undefined> {
  const profile = settingsInUse(env);
  if (!isUsable(profile) || !sendable(profile)) return undefined;
  const address = profile.baseURL ?? DEFAULT_ADDRESS;
  const unusedProxy = proxyNotUsed(address, env);
  return {
    address,
    withKey: profile.apiKey !== undefined || profile.authToken !== undefined,
    ...(unusedProxy !== undefined && { unusedProxy }),
    reached: await reachProvider(profile, answerMs),
  };
}

function sendable(profile: Profile): boolean {
  try {
    checkProfile(profile);
    return true;
  } catch (err) {
    if (LonghaulError.is(err)) return false;
    throw err;
  }
}

/** Node uses the variables for proxies only when told to, and from 22.21 and 24.5 on. */
function proxyNotUsed(address: string, env: NodeJS.ProcessEnv): string | undefined {
  if (env.NODE_USE_ENV_PROXY || /--use-env-proxy/.test(env.NODE_OPTIONS ?? '')) return undefined;
  const wanted = new URL(address).protocol === 'https:' ? /^(https|all)_proxy$/i : /^(http|all)_proxy$/i;
  return Object.keys(env).find((name) => wanted.test(name) && env[name]?.trim());
}

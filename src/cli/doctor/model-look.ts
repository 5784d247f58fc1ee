import { isUsable, PROVIDER_ADDRESS } from '../../model/profiles.js';
import { type Reached, reachProvider } from '../../model/reach.js';
import { type SettingsLook, unsendable } from './settings-look.js';

/** ms that the provider gets to answer; below the limit of a row. */
const ANSWER_MS = 4_500;

export interface ModelLook {
  settings: Pick<SettingsLook, 'from' | 'name'>;
  /** Base URL of the requests, as it is set. */
  address: string;
  /** A key or token goes with them. */
  withKey: boolean;
  /** A proxy is set that Node does not use. */
  unusedProxy?: string;
  reached: Reached;
}

/** @returns undefined where no request can be sent, which the row about keys explains */
export async function lookAtModel(
  settings: SettingsLook,
  env: NodeJS.ProcessEnv,
  answerMs = ANSWER_MS,
): Promise<ModelLook | undefined> {
  const { profile } = settings;
  if (!isUsable(profile) || unsendable(profile)) return undefined;
  const address = profile.baseURL ?? PROVIDER_ADDRESS;
  const proxy = proxyFor(address, env);
  const reached = await reachProvider(profile, answerMs);
  const atProxy = proxy?.used && !reached.answered && mentions(reached.detail, env[proxy.variable] ?? '');
  return {
    settings,
    address,
    withKey: profile.apiKey !== undefined || profile.authToken !== undefined,
    ...(proxy && !proxy.used && { unusedProxy: proxy.variable }),
    reached: atProxy ? { ...reached, why: 'proxy' } : reached,
  };
}

/** Node uses the variables for proxies only when told to, and from 22.21 and 24.5 on. */
function proxyFor(address: string, env: NodeJS.ProcessEnv): { variable: string; used: boolean } | undefined {
  const wanted = new URL(address).protocol === 'https:' ? /^(https|all)_proxy$/i : /^(http|all)_proxy$/i;
  const variable = Object.keys(env).find((name) => wanted.test(name) && env[name]?.trim());
  if (variable === undefined) return undefined;
  const used = env.NODE_USE_ENV_PROXY === '1' || /--use-env-proxy/.test(env.NODE_OPTIONS ?? '');
  return { variable, used };
}

/** Whether an error is about the proxy itself: it names its host, or its port. */
function mentions(error: string, proxy: string): boolean {
  if (!URL.canParse(proxy)) return false;
  const { hostname, port } = new URL(proxy);
  return error.includes(hostname) || (port !== '' && error.endsWith(`:${port}`));
}

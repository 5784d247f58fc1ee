import { type Profile, profileFromEnv } from '../../model/profiles.js';
import { Secrets } from '../../model/secrets.js';

/** User and password of an address, up to the last `@` before its path. */
const USER_INFO = /([a-z][a-z0-9+.-]*:\/\/)[^\s/?#]*@/gi;

const PROXY = /^(https?|all|grpc)_proxy$/i;

/**
 * Takes out of a text what is said in confidence: the keys of these settings and of this environment, and users and
 * passwords in addresses.
 */
export function secretHider(env: NodeJS.ProcessEnv, settings: Profile): (text: string) => string {
  const secrets = new Secrets();
  const profiles = [settings, profileFromEnv(env)];
  for (const profile of [...profiles, { apiKey: env.TEMPORAL_API_KEY?.trim() ?? '' }]) secrets.add(profile);
  const addresses = profiles.flatMap(({ baseURL }) => baseURL ?? []);
  // a key that was put into the variable for the address
  for (const text of addresses) if (!URL.canParse(text)) secrets.add({ apiKey: text });
  for (const password of [...addresses, ...proxiesOf(env)].flatMap(passwordsOf)) secrets.add({ apiKey: password });
  return (text) => secrets.hide(text.replace(USER_INFO, '$1'));
}

function proxiesOf(env: NodeJS.ProcessEnv): (string | undefined)[] {
  return Object.entries(env).flatMap(([name, value]) => (PROXY.test(name) ? [value] : []));
}

function passwordsOf(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  return [password, safeDecode(password), ...searchParams.values()];
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

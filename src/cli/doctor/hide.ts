import { profileFromEnv } from '../../model/profiles.js';
import { Secrets } from '../../model/secrets.js';

/** User and password of an address, up to the last `@` before its path. */
const USER_INFO = /([a-z][a-z0-9+.-]*:\/\/)[^\s/?#]*@/gi;

const PROXY = /^(https?|all|grpc)_proxy$/i;

/** Takes out of a text what this environment says in confidence: keys, and users and passwords in addresses. */
export function secretHider(env: NodeJS.ProcessEnv): (text: string) => string {
  const secrets = new Secrets();
  const profile = profileFromEnv(env);
  secrets.add(profile);
  secrets.add({ apiKey: env.TEMPORAL_API_KEY?.trim() ?? '' });
  // a key that was put into the variable for the address
  if (profile.baseURL !== undefined && !URL.canParse(profile.baseURL)) secrets.add({ apiKey: profile.baseURL });
  for (const password of [profile.baseURL, ...proxiesOf(env)].flatMap(passwordsOf)) secrets.add({ apiKey: password });
  return (text) => secrets.hide(text.replace(USER_INFO, '$1'));
}

/** Protocol, host and path of an address; a user, a password and a query may be secret. */
export function shownAddress(url: string): string {
  if (!URL.canParse(url)) return '(not an address)';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
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

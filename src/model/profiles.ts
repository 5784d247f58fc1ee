import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LonghaulError, messageOf } from '../domain/errors.js';
import { homePaths } from '../settings/paths.js';

/** How to reach a provider. Kept in a file that only its owner can read; tasks hold its name. */
export interface Profile {
  baseURL?: string;
  apiKey?: string;
  authToken?: string;
}

/** Whether a name is one that {@link saveProfile} gives. */
export function isHashed(name: string): boolean {
  return /^p-[0-9a-f]{12}$/.test(name);
}

/** The provider's own address, used where a profile names none. */
export const PROVIDER_ADDRESS = 'https://api.anthropic.com';

/** Protocol, host and path of an address; a user, a password and a query may be secret. */
export function shownAddress(url: string): string {
  if (!URL.canParse(url)) return '(not an address)';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

/** The profile of a worker's own environment, for clusters whose workers hold the keys. */
export const ENV_PROFILE = 'env';

/** @returns what Anthropic's standard variables say */
export function profileFromEnv(env: NodeJS.ProcessEnv): Profile {
  const profile: Profile = {};
  if (env.ANTHROPIC_BASE_URL?.trim()) profile.baseURL = env.ANTHROPIC_BASE_URL.trim();
  if (env.ANTHROPIC_API_KEY?.trim()) profile.apiKey = env.ANTHROPIC_API_KEY.trim();
  if (env.ANTHROPIC_AUTH_TOKEN?.trim()) profile.authToken = env.ANTHROPIC_AUTH_TOKEN.trim();
  return profile;
}

/** What an HTTP header may hold: no control characters, nothing outside of Latin-1. */
const HEADER_TEXT = /^[\x20-\x7e\xa0-\xff]*$/;

/** @throws LonghaulError `bad-settings` for an address or key that no request can be sent to or with; never names a key */
export function checkProfile({ baseURL, apiKey, authToken }: Profile): void {
  if (apiKey !== undefined && !HEADER_TEXT.test(apiKey)) throw unsendable('ANTHROPIC_API_KEY');
  if (authToken !== undefined && !HEADER_TEXT.test(authToken)) throw unsendable('ANTHROPIC_AUTH_TOKEN');
  if (baseURL === undefined) return;
  const problem = addressProblem(baseURL);
  if (problem === undefined) return;
  throw new LonghaulError('bad-settings', `ANTHROPIC_BASE_URL ${problem}`, {
    kept: 'Nothing was started or sent.',
    next: "Correct it, or unset it for the provider's own address.",
  });
}

function addressProblem(baseURL: string): string | undefined {
  if (!URL.canParse(baseURL) || !/^https?:$/.test(new URL(baseURL).protocol)) {
    return `is not an http or https address: ${baseURL.includes('@') ? shownAddress(baseURL) : baseURL}`;
  }
  const { username, password, search, hash } = new URL(baseURL);
  if (username !== '' || password !== '') return `has a user or password in it: ${shownAddress(baseURL)}`;
  if (search !== '' || hash !== '') return `has something after its path: ${shownAddress(baseURL)}`;
  return undefined;
}

function unsendable(name: string): LonghaulError {
  const what = 'holds characters that no request header can carry (a line break, a control character, or one like "…")';
  return new LonghaulError('bad-settings', `${name} ${what}.`, {
    kept: 'Nothing was started or sent.',
    next: 'Copy the key again, whole and without anything around it.',
  });
}

/** A provider can be reached with it: it has a key, or it is a server of one's own that may need none. */
export function isUsable(profile: Profile): boolean {
  return profile.apiKey !== undefined || profile.authToken !== undefined || profile.baseURL !== undefined;
}

/**
 * Keeps the caller's provider settings where the service can read them, and names them. The name is a hash, so the same
 * settings have one name, and it gives nothing away.
 * @throws LonghaulError `journal-unwritable`
 */
export async function saveProfile(home: string, profile: Profile): Promise<string> {
  const name = `p-${createHash('sha256').update(JSON.stringify(profile)).digest('hex').slice(0, 12)}`;
  await writeProfile(home, name, profile);
  return name;
}

/** Stores a profile, or replaces it whole. @throws LonghaulError `journal-unwritable` */
export async function writeProfile(home: string, name: string, profile: Profile): Promise<void> {
  const text = JSON.stringify(profile);
  const { profiles } = homePaths(home);
  const temp = join(profiles, `.${name}.${randomUUID()}`);
  try {
    await mkdir(profiles, { recursive: true, mode: 0o700 });
    await writeFile(temp, text, { mode: 0o600 });
    await rename(temp, join(profiles, `${name}.json`));
  } catch (cause) {
    await rm(temp, { force: true }).catch(() => undefined);
    const why = messageOf(cause);
    throw new LonghaulError('journal-unwritable', `The provider's settings cannot be stored: ${why}.`, {
      kept: 'Everything stored before; nothing was started or sent.',
      next: 'Check the free space and the permissions of LONGHAUL_HOME, then try again.',
      cause,
    });
  }
}

/** @throws LonghaulError `no-api-key` when there is no such profile on this host */
export async function loadProfile(home: string, env: NodeJS.ProcessEnv, name: string): Promise<Profile> {
  if (name === ENV_PROFILE) return profileFromEnv(env);
  if (!/^[a-zA-Z0-9._-]{1,100}$/.test(name)) throw missing(name);
  try {
    return JSON.parse(await readFile(join(homePaths(home).profiles, `${name}.json`), 'utf8')) as Profile;
  } catch (cause) {
    throw missing(name, cause);
  }
}

function missing(name: string, cause?: unknown): LonghaulError {
  const here = 'Set ANTHROPIC_API_KEY and answer the task\'s ask with "yes" from that shell';
  return new LonghaulError('no-api-key', `The provider profile "${name}" is not on this host.`, {
    kept: 'The task waits; nothing is lost.',
    next: isHashed(name) ? `${here}.` : `Save it with \`longhaul profile save ${name}\` and answer "yes"; or: ${here}.`,
    cause,
  });
}

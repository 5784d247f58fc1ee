import { existsSync } from 'node:fs';
import { LonghaulError } from '../domain/errors.js';
import { OPEN_STATUSES } from '../domain/outcomes.js';
import { openJournal } from '../journal/open.js';
import {
  checkProfileName,
  chooseProfile,
  hasProfile,
  nameOf,
  profileNames,
  removeProfile,
  unknownProfile,
} from '../model/named-profiles.js';
import {
  checkProfile,
  ENV_PROFILE,
  isHashed,
  isUsable,
  loadProfile,
  PROVIDER_ADDRESS,
  type Profile,
  profileFromEnv,
  shownAddress,
  writeProfile,
} from '../model/profiles.js';
import { namesServer } from '../service/named-server.js';
import { homePaths } from '../settings/paths.js';
import { homeProfile } from '../settings/read.js';
import { columns, type Io, printJson, printLine } from './io.js';
import { count, table } from './text.js';

/** Longest key taken from standard input, bytes. */
const MAX_KEY_BYTES = 16 * 1024;

/** Stores the shell's provider settings under a name, or a key that comes on standard input. @returns the exit code */
export async function saveCommand(
  io: Io,
  home: string,
  name: string,
  flags: { keyStdin?: boolean; json?: boolean },
): Promise<number> {
  checkProfileName(name);
  const profile = flags.keyStdin ? await withKeyFrom(io) : profileFromEnv(io.env);
  checkProfile(profile);
  if (!isUsable(profile)) throw nothingToSave();
  const replaced = hasProfile(home, name);
  await writeProfile(home, name, profile);
  const shown = shownProfile(name, profile, await usersOf(home, name));
  if (flags.json) printJson(io, { type: 'profile', state: replaced ? 'replaced' : 'saved', profile: shown });
  else {
    printLine(io, `${replaced ? 'Replaced' : 'Saved'} the profile "${name}" (${shown.baseUrl}).`);
    const { length } = shown.tasks;
    if (length > 0) printLine(io, `${count(length, 'open task')} will use it from the next request on.`);
  }
  return 0;
}

/** Lists the named profiles, and says which one a task started here would get. @returns the exit code */
export async function listCommand(io: Io, home: string, json: boolean): Promise<number> {
  const names = await profileNames(home);
  const named: ShownProfile[] = [];
  for (const name of names.filter((one) => !isHashed(one))) named.push(await shown(home, name));
  const shells = names.filter(isHashed).length;
  const choice = chooseProfile(home, io.env, undefined, await homeProfile(home));
  const here = choice ? nameOf(choice) : namesServer(io.env) ? ENV_PROFILE : null;
  if (json) {
    printJson(io, { type: 'profiles', profiles: named, shells, here });
    return 0;
  }
  const rows = named.map(({ name, baseUrl, tasks }) => [
    name,
    baseUrl,
    tasks.length === 0 ? '' : `${tasks.length} open`,
  ]);
  if (named.length === 0) printLine(io, 'There are no named profiles yet.');
  else for (const line of table([['NAME', 'BASE URL', 'TASKS'], ...rows], columns(io))) printLine(io, line);
  if (shells > 0) printLine(io, `Settings of shells that tasks were started from: ${shells}.`);
  printLine(io, `Tasks started from this shell use: ${hereWords(here)}`);
  return 0;
}

/** Shows what a profile holds, never a key. @returns the exit code */
export async function showProfileCommand(io: Io, home: string, name: string, json: boolean): Promise<number> {
  const profile = await shown(home, name);
  if (json) {
    printJson(io, { type: 'profile', profile });
    return 0;
  }
  const lines = [
    ['profile', profile.name],
    ['base URL', profile.baseUrl],
    ['key', profile.key ? 'set' : 'not set'],
    ['token', profile.token ? 'set' : 'not set'],
    ['open tasks', profile.tasks.length === 0 ? 'none' : profile.tasks.join(', ')],
  ];
  for (const [label, value] of lines) printLine(io, `${`${label}:`.padEnd(13)}${value}`);
  return 0;
}

/** @returns the exit code. @throws LonghaulError `profile-in-use` without `force` while an open task uses it */
export async function removeCommand(
  io: Io,
  home: string,
  name: string,
  flags: { force?: boolean; json?: boolean },
): Promise<number> {
  const { tasks } = await shown(home, name);
  if (tasks.length > 0 && !flags.force) {
    throw new LonghaulError('profile-in-use', `The profile "${name}" is used by open tasks: ${tasks.join(', ')}.`, {
      kept: 'The profile and the tasks are as they were.',
      next: 'End those tasks first; or save other settings under this name; or use --force, and they will ask for a key.',
    });
  }
  await removeProfile(home, name);
  if (flags.json) printJson(io, { type: 'profile', state: 'removed', profile: { name, tasks } });
  else printLine(io, `Removed the profile "${name}".`);
  return 0;
}

interface ShownProfile {
  name: string;
  baseUrl: string;
  /** Whether there is one. */
  key: boolean;
  token: boolean;
  /** Open tasks that use it. */
  tasks: string[];
}

/** @throws LonghaulError `profile-unknown` */
async function shown(home: string, name: string): Promise<ShownProfile> {
  if (name === ENV_PROFILE || !(await profileNames(home)).includes(name)) throw unknownProfile(name);
  return shownProfile(name, await loadProfile(home, {}, name), await usersOf(home, name));
}

function shownProfile(name: string, profile: Profile, tasks: string[]): ShownProfile {
  const { baseURL, apiKey, authToken } = profile;
  const baseUrl = shownAddress(baseURL ?? PROVIDER_ADDRESS);
  return { name, baseUrl, key: apiKey !== undefined, token: authToken !== undefined, tasks };
}

async function usersOf(home: string, name: string): Promise<string[]> {
  if (!existsSync(homePaths(home).journal)) return [];
  const journal = await openJournal({ home, readonly: true });
  try {
    const open = await journal.listTasks({ statuses: [...OPEN_STATUSES] });
    return open.filter(({ profile }) => profile === name).map(({ task }) => task);
  } finally {
    await journal.close();
  }
}

/** The key that was given is the one that counts: not the shell's key, nor its token. */
async function withKeyFrom(io: Io): Promise<Profile> {
  const { baseURL } = profileFromEnv(io.env);
  return { ...(baseURL === undefined ? {} : { baseURL }), apiKey: await readKey(io) };
}

async function readKey(io: Io): Promise<string> {
  const next = 'Give it from a file or another program, such as `longhaul profile save NAME --key-stdin < FILE`.';
  const refused = (message: string) => new LonghaulError('bad-settings', message, { kept: 'Nothing was saved.', next });
  if (io.stdin.isTTY) throw refused('A key typed at the terminal would be seen.');
  let text = '';
  for await (const piece of io.stdin) {
    text += String(piece);
    if (text.length > MAX_KEY_BYTES) throw refused('What came on standard input is too long for a key.');
  }
  if (text.trim() === '') throw refused('No key came on standard input.');
  return text.trim();
}

function nothingToSave(): LonghaulError {
  return new LonghaulError('no-api-key', 'This shell has no provider settings: ANTHROPIC_API_KEY is not set.', {
    kept: 'Nothing was saved.',
    next: 'Set ANTHROPIC_API_KEY (and ANTHROPIC_BASE_URL for another server), or give the key with --key-stdin.',
  });
}

function hereWords(here: string | null): string {
  if (here === null) return 'none (a task cannot be started)';
  if (here === ENV_PROFILE) return "the worker's own environment";
  return here === 'shell' ? "the shell's ANTHROPIC_* settings" : here;
}

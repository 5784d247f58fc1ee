import { mkdtemp, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkProfileName, chooseProfile, chosenName, profileFile, profileNames } from './named-profiles.js';
import { saveProfile, writeProfile } from './profiles.js';
import { KEEP_PROFILES_MS, sweepProfiles } from './sweep-profiles.js';

async function tempHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'longhaul-profiles-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

test.each(['', 'env', 'p-0123456789ab', 'a/b', '../x', 'a b', 'ä', 'x'.repeat(61)])(
  'no profile is saved as %j',
  (name) => {
    expect(() => checkProfileName(name)).toThrow(expect.objectContaining({ slug: 'bad-flag' }) as unknown as Error);
  },
);

test.each(['work', 'default', 'a.b_c-1', 'p-work', 'p-0123456789abc', 'x'.repeat(60)])('%j is a name', (name) => {
  expect(() => checkProfileName(name)).not.toThrow();
});

test('what is meant for Longhaul alone goes before what every program reads; `default` comes last', async () => {
  const home = await tempHome();
  const shell = { ANTHROPIC_API_KEY: 'k' };
  expect(chooseProfile(home, {})).toBeUndefined();
  expect(chooseProfile(home, shell)).toEqual({ from: 'shell' });
  for (const name of ['work', 'other', 'default']) await writeProfile(home, name, { apiKey: name });
  const variable = { ...shell, LONGHAUL_PROFILE: 'work' };
  expect(chooseProfile(home, variable, 'other')).toEqual({ from: 'flag', name: 'other' });
  expect(chooseProfile(home, variable, undefined, 'other')).toEqual({ from: 'variable', name: 'work' });
  expect(chooseProfile(home, shell, undefined, 'other')).toEqual({ from: 'settings', name: 'other' });
  expect(chooseProfile(home, { ...shell, LONGHAUL_PROFILE: ' ' })).toEqual({ from: 'shell' });
  expect(chooseProfile(home, shell)).toEqual({ from: 'shell' });
  expect(chooseProfile(home, {})).toEqual({ from: 'default', name: 'default' });
  expect(await chosenName(home, shell, { from: 'shell' })).toMatch(/^p-[0-9a-f]{12}$/);
});

test('a name without a profile is an error that says where it comes from', async () => {
  const home = await tempHome();
  const unknown = (message: string) =>
    expect.objectContaining({ slug: 'profile-unknown', message: expect.stringContaining(message) }) as unknown as Error;
  for (const name of ['absent', '../absent', '']) expect(() => chooseProfile(home, {}, name)).toThrow(unknown(name));
  expect(() => chooseProfile(home, { LONGHAUL_PROFILE: 'absent' })).toThrow(unknown('LONGHAUL_PROFILE'));
  expect(() => chooseProfile(home, {}, undefined, 'absent')).toThrow(unknown('settings.json names it'));
});

test('settings of shells that no task has used for 30 days are removed, named profiles are not', async () => {
  const home = await tempHome();
  const [old, used, fresh] = [
    await saveProfile(home, { apiKey: 'old' }),
    await saveProfile(home, { apiKey: 'used' }),
    await saveProfile(home, { apiKey: 'fresh' }),
  ];
  await writeProfile(home, 'work', { apiKey: 'work' });
  const before = new Date(Date.now() - KEEP_PROFILES_MS - 60_000);
  for (const name of [old, used, 'work']) await utimes(profileFile(home, name), before, before);
  const asked: number[] = [];
  const journal = {
    usedProfiles: async (since: number) => {
      asked.push(since);
      return new Set([used]);
    },
  };
  expect(await sweepProfiles({ home, journal })).toEqual([old]);
  expect(asked[0]).toBeLessThanOrEqual(Date.now() - KEEP_PROFILES_MS);
  expect(await profileNames(home)).toEqual([fresh, used, 'work'].sort());
  expect((await stat(profileFile(home, 'work'))).mode & 0o777).toBe(0o600);
});

test('a home without profiles is nothing to sweep', async () => {
  const journal = { usedProfiles: async () => new Set<string>() };
  expect(await sweepProfiles({ home: await tempHome(), journal })).toEqual([]);
});

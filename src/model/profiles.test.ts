import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { homePaths } from '../settings/paths.js';
import { checkProfile, loadProfile, saveProfile } from './profiles.js';

async function tempHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'longhaul-profiles-'));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

test.each(['sk-a\nb', 'sk-a\rb', 'sk-a\0b', 'sk-a…b', 'sk-\u{1f600}', 'sk-a\u007fb', 'sk-\tb'])(
  'a key that no header can carry is refused and not shown: %j',
  (key) => {
    for (const [profile, name] of [
      [{ apiKey: key }, 'ANTHROPIC_API_KEY'],
      [{ authToken: key }, 'ANTHROPIC_AUTH_TOKEN'],
    ] as const) {
      const refused = expect.objectContaining({ slug: 'bad-settings', message: expect.stringContaining(name) });
      expect(() => checkProfile(profile)).toThrow(refused as unknown as Error);
      expect(() => checkProfile(profile)).not.toThrow('sk-');
    }
  },
);

test('keys that a header can carry are taken', () => {
  for (const apiKey of ['sk-ant-0123_ABC', 'with space', 'caf\u00e9'])
    expect(() => checkProfile({ apiKey })).not.toThrow();
});

test('many at once store the same settings under one name', async () => {
  const home = await tempHome();
  const profile = { apiKey: 'k', baseURL: 'http://127.0.0.1:1' };
  const names = await Promise.all(Array.from({ length: 20 }, () => saveProfile(home, profile)));
  expect(new Set(names).size).toBe(1);
  expect(await loadProfile(home, {}, names[0] ?? '')).toEqual(profile);
  expect(await readdir(homePaths(home).profiles)).toEqual([`${names[0]}.json`]);
});

test('settings that cannot be stored are an error for people', async () => {
  const home = await tempHome();
  await writeFile(homePaths(home).profiles, 'a file in the way');
  await expect(saveProfile(home, { apiKey: 'k' })).rejects.toMatchObject({ slug: 'journal-unwritable' });
});

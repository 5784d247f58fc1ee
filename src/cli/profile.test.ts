import { stat } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { said, TASK, type TestHome, testHome, testIo } from '../../test/support/cli.js';
import { profileFile } from '../model/named-profiles.js';
import { loadProfile, saveProfile } from '../model/profiles.js';
import { main } from './main.js';

const KEY = 'sk-secret-0123456789';

let home: TestHome;
beforeEach(async () => {
  home = await testHome();
});
afterEach(() => home.remove());

async function longhaul(argv: string[], env: NodeJS.ProcessEnv = {}, input?: string) {
  const io = testIo({ env: { LONGHAUL_HOME: home.home, ...env } });
  io.stdin.end(input ?? '');
  const code = await main(['profile', ...argv], io);
  const out = io.text() + io.errors();
  return { code, out, lines: io.lines };
}

describe('profile save', () => {
  it('stores what the shell says, for its owner only, and shows no key', async () => {
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: 'https://models.example/api' };
    const saved = await longhaul(['save', 'work', '--json'], env);
    expect(saved.code).toBe(0);
    expect(saved.lines()[0]).toEqual({
      v: 1,
      type: 'profile',
      state: 'saved',
      profile: { name: 'work', baseUrl: 'https://models.example/api', key: true, token: false, tasks: [] },
    });
    const all = [saved, await longhaul(['show', 'work']), await longhaul(['list']), await longhaul(['list', '--json'])];
    for (const { out, code } of all) {
      expect(code).toBe(0);
      expect(out).toContain('https://models.example/api');
      expect(out).not.toContain('sk-secret');
    }
    expect((await stat(profileFile(home.home, 'work'))).mode & 0o777).toBe(0o600);
    expect(await loadProfile(home.home, {}, 'work')).toEqual({
      apiKey: KEY,
      baseURL: 'https://models.example/api',
    });
  });

  it('takes a key from standard input, in the place of those of the shell', async () => {
    const env = { ANTHROPIC_API_KEY: 'other', ANTHROPIC_AUTH_TOKEN: 'other', ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' };
    const { code, out } = await longhaul(['save', 'work', '--key-stdin'], env, `${KEY}\n`);
    expect(code).toBe(0);
    expect(out).not.toContain(KEY);
    expect(await loadProfile(home.home, {}, 'work')).toEqual({ apiKey: KEY, baseURL: 'http://127.0.0.1:1' });
  });

  it.each([
    ['nothing in the shell', ['save', 'work'], {}, '', 'no-api-key'],
    ['nothing on standard input', ['save', 'work', '--key-stdin'], {}, ' \n', 'bad-settings'],
    ['two lines', ['save', 'work', '--key-stdin'], {}, `${KEY}\n${KEY}\n`, 'bad-settings'],
    ['more than a key', ['save', 'work', '--key-stdin'], {}, 'x'.repeat(20_000), 'bad-settings'],
    ['an address that is none', ['save', 'work'], { ANTHROPIC_BASE_URL: 'models.example' }, '', 'bad-settings'],
    [
      'an address with a password',
      ['save', 'work'],
      { ANTHROPIC_BASE_URL: `https://me:${KEY}@x.example` },
      '',
      'bad-settings',
    ],
    ['a name that is reserved', ['save', 'env'], { ANTHROPIC_API_KEY: KEY }, '', 'bad-flag'],
  ] as const)('refuses %s', async (_, argv, env, input, slug) => {
    const { code, out } = await longhaul([...argv], env, input);
    expect(code).toBe(slug === 'bad-flag' ? 2 : 1);
    expect(out).toContain(`docs/errors/${slug}.md`);
    expect(out).not.toContain(KEY);
    expect((await longhaul(['list', '--json'])).lines()[0]).toMatchObject({ profiles: [] });
  });

  it('is refused to the commands of a task', async () => {
    const env = { LONGHAUL_CALL: 'turn:0', LONGHAUL_TASK: TASK, ANTHROPIC_API_KEY: KEY };
    for (const argv of [
      ['save', 'default'],
      ['remove', 'default'],
    ])
      expect((await longhaul(argv, env)).out).toContain('docs/errors/inside-task.md');
  });
});

it('profile list says which settings this shell uses', async () => {
  await longhaul(['save', 'default'], { ANTHROPIC_API_KEY: KEY });
  await longhaul(['save', 'work'], { ANTHROPIC_API_KEY: KEY });
  await saveProfile(home.home, { apiKey: 'from a shell' });
  const here = async (env: NodeJS.ProcessEnv) => (await longhaul(['list', '--json'], env)).lines()[0];
  expect(await here({})).toMatchObject({
    here: 'default',
    shells: 1,
    profiles: [{ name: 'default' }, { name: 'work' }],
  });
  expect(await here({ ANTHROPIC_API_KEY: 'k' })).toMatchObject({ here: 'shell' });
  expect(await here({ ANTHROPIC_API_KEY: 'k', LONGHAUL_PROFILE: 'work' })).toMatchObject({ here: 'work' });
  expect((await longhaul(['list'], { LONGHAUL_PROFILE: 'absent' })).out).toContain('docs/errors/profile-unknown.md');
});

it('a profile that an open task uses is replaced, but removed only by force', async () => {
  await longhaul(['save', 'work'], { ANTHROPIC_API_KEY: KEY });
  await home.journal.setProfile(TASK, 'work');
  expect((await longhaul(['show', 'work', '--json'])).lines()[0]).toMatchObject({ profile: { tasks: [TASK] } });
  const replaced = await longhaul(['save', 'work'], { ANTHROPIC_API_KEY: 'another-key' });
  expect(replaced.out).toContain('1 open task will use it');
  const refused = await longhaul(['remove', 'work']);
  expect(refused.code).toBe(1);
  expect(refused.out).toContain('docs/errors/profile-in-use.md');
  expect(refused.out).toContain(TASK);
  expect((await longhaul(['remove', 'work', '--force'])).code).toBe(0);
  expect((await longhaul(['show', 'work'])).out).toContain('docs/errors/profile-unknown.md');
  await longhaul(['save', 'work'], { ANTHROPIC_API_KEY: KEY });
  await home.log(said.ended('cancelled'));
  expect((await longhaul(['remove', 'work'])).code).toBe(0);
});

it('wrong usage of profile is told', async () => {
  for (const argv of [['sav', 'x'], ['show'], ['save', 'work', KEY]]) {
    const { code, out } = await longhaul(argv);
    expect(code).toBe(2);
    expect(out).toContain('docs/errors/bad-flag.md');
  }
  expect((await longhaul(['sav', 'x'])).out).toContain('Did you mean save?');
});

import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestHome, testHome, testIo } from '../../test/support/cli.js';
import { startFakeModel } from '../fake-model/index.js';
import { writeProfile } from '../model/profiles.js';
import { main } from './main.js';

let home: TestHome;
beforeEach(async () => {
  home = await testHome();
});
afterEach(() => home.remove());

async function longhaul(argv: string[], { env }: { env?: NodeJS.ProcessEnv } = {}) {
  const io = testIo({ cwd: home.home, env: { LONGHAUL_HOME: home.home, ...env } });
  const code = await main(argv, io);
  return { code, out: io.text(), err: io.errors(), lines: io.lines };
}

describe('doctor', () => {
  it('reports what is there, starts nothing and shows no key', async () => {
    const env = { ANTHROPIC_API_KEY: 'key-0123456789', ANTHROPIC_BASE_URL: 'https://models.example/api' };
    const { code, lines, out } = await longhaul(['doctor', '--json', '--offline'], { env });
    expect(code).toBe(0);
    expect(lines()[0]).toMatchObject({
      v: 1,
      type: 'doctor',
      node: process.versions.node,
      temporal: { address: null, reachable: false, embedded: true },
      journal: { id: home.journal.id.id, ok: true },
      provider: { profile: 'shell', configured: true, baseUrl: 'https://models.example/api' },
      ok: true,
    });
    const rows = lines()[0]?.rows as { name: string; state: string; found: string }[];
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(['Node', 'git', 'journal', 'keys']));
    expect(rows.map(({ name }) => name)).not.toContain('model');
    expect(out).not.toMatch(/key-0123456789/);
  });

  it('asks the provider, and ends with 1 when something is broken', async () => {
    const model = await startFakeModel({ apiKey: 'right-key' });
    const ask = (key: string) =>
      longhaul(['doctor'], { env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: key } });
    const [right, wrong] = [await ask('right-key'), await ask('wrong-key')];
    await model.close();
    expect([right.code, wrong.code]).toEqual([0, 1]);
    expect(right.out).toMatch(/^✓ model .* answers and takes the key$/m);
    expect(wrong.out).toMatch(/^✗ model .* refuses the key \(401\)$/m);
    expect(wrong.out).toMatch(/^ +→ Set ANTHROPIC_API_KEY/m);
    expect(wrong.out).not.toContain('wrong-key');
  });

  it('looks at the profile that a task would get', async () => {
    await writeProfile(home.home, 'work', { apiKey: 'key-0123456789', baseURL: 'https://work.example' });
    const env = { LONGHAUL_PROFILE: 'work', ANTHROPIC_API_KEY: 'other-key-0123' };
    const { lines, out } = await longhaul(['doctor', '--json', '--offline'], { env });
    expect(lines()[0]).toMatchObject({
      provider: { profile: 'work', configured: true, baseUrl: 'https://work.example' },
      rows: expect.arrayContaining([expect.objectContaining({ name: 'keys', state: 'ok' })]),
    });
    expect(out).not.toMatch(/key-0123/);
  });

  it('makes no journal where there is none', async () => {
    const { lines } = await longhaul(['doctor', '--json', '--offline'], {
      env: { LONGHAUL_HOME: join(home.home, 'other') },
    });
    expect(lines()[0]).toMatchObject({
      journal: { id: null, ok: true },
      provider: { profile: null, configured: false },
    });
  });
});

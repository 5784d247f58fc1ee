import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readCommandPermissions } from './command-permissions.js';
import { resolveSettings } from './resolve.js';

const permissions = (text: string) => readCommandPermissions({ CLINE_COMMAND_PERMISSIONS: text });

describe('CLINE_COMMAND_PERMISSIONS', () => {
  it('gives rules in the form of the settings', () => {
    expect(permissions('{"allow":["npm test"],"deny":["rm *"],"allowRedirects":true}')).toEqual({
      allow: ['npm test'],
      deny: ['rm *'],
      allowRedirects: true,
    });
    expect(permissions('{}')).toEqual({ allowRedirects: false });
    expect(permissions(' ')).toBeUndefined();
    expect(readCommandPermissions({})).toBeUndefined();
  });

  it.each([
    ['{allow:[]}', 'is not JSON'],
    ['{"allow":"ls"}', '"allow" is a list such as ["npm test *"]'],
    ['{"deny":[1]}', '"deny.0" is a pattern'],
    ['{"denny":[]}', '"denny" is no setting'],
    ['{"unasked":["rm *"]}', '"unasked" is no setting'],
    ['[]', 'is an object'],
    ['null', 'is an object'],
    ['{"deny":[" "]}', 'must not be blank'],
    ['{"allowRedirects":"yes"}', '"allowRedirects" is true or false'],
  ])('%s is an error, not a lack of rules', (text, said) => {
    expect(() => permissions(text)).toThrow(
      expect.objectContaining({ slug: 'bad-settings', message: expect.stringContaining(said) }),
    );
  });
});

describe('rules about commands', () => {
  let home: string;
  let workspace: string;
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'longhaul-home-')));
    workspace = realpathSync(mkdtempSync(join(tmpdir(), 'longhaul-work-')));
  });
  afterEach(() => {
    for (const dir of [home, workspace]) rmSync(dir, { recursive: true });
  });

  it('of all places hold at the same time', async () => {
    writeFileSync(join(home, 'settings.json'), '{ "commands": { "deny": ["a *"], "unasked": ["npm test"] } }');
    mkdirSync(join(workspace, '.longhaul'));
    writeFileSync(join(workspace, '.longhaul', 'settings.json'), '{ "commands": { "allow": ["b *"] } }');
    const env = { CLINE_COMMAND_PERMISSIONS: '{"deny":["c *"]}' };
    const { settings, tightened } = await resolveSettings(
      { home, workspace, files: true },
      { commands: { deny: ['d *'] } },
      env,
    );
    expect(settings.policy.commands).toEqual([
      { deny: ['a *'], unasked: ['npm test'] },
      { deny: ['d *'] },
      { allow: ['b *'] },
      { allowRedirects: false, deny: ['c *'] },
    ]);
    expect(tightened).toEqual(['commands are held to its rules']);
  });

  it('that cannot be read start no task', async () => {
    const env = { CLINE_COMMAND_PERMISSIONS: 'deny rm' };
    await expect(resolveSettings({ home, workspace, files: true }, {}, env)).rejects.toThrow('is not JSON');
  });
});

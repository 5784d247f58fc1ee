import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageRoot, packageVersion } from '../../service/package.js';
import { homePaths } from '../../settings/paths.js';
import { diskFinding } from './disk.js';
import { beginExamination } from './examination.js';
import { gitFinding } from './git.js';
import { homeFinding, networkType } from './home.js';
import { installFinding } from './install.js';
import { nodeFinding } from './node.js';
import { profilesFinding } from './profiles.js';
import { ripgrepCheck, ripgrepFinding } from './ripgrep.js';
import { temporalCliCheck, temporalCliFinding } from './temporal-cli.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-doctor-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function program(path: string, script: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return file;
}

describe('Node', () => {
  const day = new Date('2026-12-01T12:00:00Z');
  it('is well on a line that is looked after, and on newer ones', () => {
    expect(nodeFinding('24.11.0', day)).toEqual({ state: 'ok', found: '24.11.0' });
    expect(nodeFinding('26.0.0', day).state).toBe('ok');
    expect(nodeFinding('20.3.0', new Date('2026-04-30T12:00:00Z')).state).toBe('ok');
  });
  it('deserves a look when its line has ended, and is too old below 20.3', () => {
    expect(nodeFinding('20.20.0', day)).toMatchObject({ state: 'warn', found: expect.stringContaining('2026-04-30') });
    expect(nodeFinding('23.1.0', day).state).toBe('warn');
    for (const old of ['18.20.0', '20.2.9']) expect(nodeFinding(old, day).state).toBe('bad');
  });
});

describe('Longhaul', () => {
  it('is well when it is built', () => {
    expect(installFinding(packageRoot, packageVersion())).toEqual({
      state: 'ok',
      found: `${packageVersion()} in ${packageRoot}`,
    });
  });
  it('is broken when files of it are missing', () => {
    mkdirSync(join(folder, 'dist', 'cli'), { recursive: true });
    writeFileSync(join(folder, 'dist', 'cli', 'main.js'), '');
    const finding = installFinding(folder, '1.2.3');
    expect(finding).toMatchObject({ state: 'bad', next: expect.stringContaining('npm run build') });
    expect(finding.found).toContain('dist/workflow-bundle.js');
    expect(finding.found).not.toContain('dist/cli/main.js');
  });
});

describe('git', () => {
  const path = (script: string) => {
    program('bin/git', script);
    return { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` };
  };
  it('is well when it is new enough', async () => {
    expect(await gitFinding(path('echo git version 2.30.0'))).toEqual({ state: 'ok', found: '2.30.0' });
    expect((await gitFinding(path('echo "git version 3.1.0 (Apple Git-200)"'))).state).toBe('ok');
  });
  it('deserves a look when it is old, absent, broken or something else', async () => {
    expect(await gitFinding(path('echo git version 2.29.9'))).toMatchObject({
      state: 'warn',
      found: '2.29.9 is older than 2.30',
    });
    expect(await gitFinding({ PATH: folder })).toMatchObject({ state: 'warn', found: 'not found' });
    expect((await gitFinding(path('echo no >&2; exit 3'))).found).toContain('cannot be run');
    expect((await gitFinding(path('echo hello'))).found).toContain('"hello"');
  });
});

describe('ripgrep', () => {
  it('is well when the one of the package runs', async () => {
    const exam = beginExamination({ home: folder, env: process.env });
    expect(await ripgrepCheck.look(exam)).toMatchObject({ state: 'ok', found: expect.stringMatching(/^\d+\.\d+/) });
  });
  it('is broken when it is absent or does not run', async () => {
    expect(await ripgrepFinding(join(folder, 'rg'), {})).toMatchObject({
      state: 'bad',
      found: expect.stringContaining('not there'),
    });
    const broken = program('rg', 'echo "wrong machine" >&2; exit 126');
    expect((await ripgrepFinding(broken, {})).found).toContain('cannot be run');
  });
});

describe('home', () => {
  const own = process.getuid?.();
  it('is well when it is a private folder, or can be made', async () => {
    expect(await homeFinding(folder, own)).toEqual({ state: 'ok', found: folder });
    const deep = join(folder, 'a', 'b');
    expect(await homeFinding(deep, own)).toMatchObject({ state: 'ok', found: expect.stringContaining(deep) });
    expect(existsSync(join(folder, 'a'))).toBe(false);
  });
  it('deserves a look when others can enter it, or own it', async () => {
    chmodSync(folder, 0o755);
    expect(await homeFinding(folder, own)).toMatchObject({ state: 'warn', next: `Run \`chmod 700 '${folder}'\`.` });
    chmodSync(folder, 0o700);
    const other = await homeFinding(folder, statSync(folder).uid + 1);
    expect(other).toMatchObject({ state: 'warn', found: expect.stringContaining('another user') });
  });
  it('is broken when it is a file, or nothing can be made where it should be', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(await homeFinding(file, own)).toMatchObject({
      state: 'bad',
      found: expect.stringContaining('not a folder'),
    });
    const below = await homeFinding(join(file, 'home'), own);
    expect(below).toMatchObject({ state: 'bad', found: expect.stringContaining('cannot be made') });
  });
  it('says all that is wrong at once', async () => {
    chmodSync(folder, 0o750);
    const finding = await homeFinding(folder, statSync(folder).uid + 1);
    expect(finding.found).toMatch(/another user.*; .*mode 750/);
    expect(finding.next).toMatch(/chown.*chmod/);
  });
  it('knows network file systems from local ones', async () => {
    const mount = (type: string) => async () => type;
    expect(await networkType(0x6969, mount(''))).toBe('NFS');
    // as a signed number, as some platforms give it
    expect(await networkType(0xff534d42 | 0, mount(''))).toBe('CIFS');
    expect(await networkType(0x65735546, mount('fuse.sshfs'))).toBe('fuse.sshfs');
    expect(await networkType(0x65735546, mount('fuseblk'))).toBeUndefined();
    expect(await networkType(0xef53, mount('nfs'))).toBeUndefined();
  });
});

describe('disk', () => {
  const none = { warnBytes: 0, badBytes: 0, warnFiles: 0, badFiles: 0 };
  const all = Number.MAX_SAFE_INTEGER;
  it('is well with enough room', async () => {
    expect(await diskFinding(join(folder, 'not', 'yet'), none)).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(/^[\d.]+ (bytes|[KMGT]B) free$/),
    });
  });
  it('deserves a look with little room, and is broken with less', async () => {
    expect((await diskFinding(folder, { ...none, warnBytes: all })).state).toBe('warn');
    expect(await diskFinding(folder, { ...none, warnBytes: all, badBytes: all })).toMatchObject({
      state: 'bad',
      found: expect.stringContaining(folder),
    });
  });
  it.skipIf(!canMount())('sees a small file system as such, in bytes and in files', async () => {
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=200k,nr_inodes=20', 'tmpfs', folder]);
    try {
      const finding = await diskFinding(join(folder, 'home'));
      expect(finding.state).toBe('bad');
      expect(finding.found).toMatch(/only 200 KB free at .*; only 19 more files/);
    } finally {
      spawnSync('umount', [folder]);
    }
  });
});

describe('profiles', () => {
  it('are well when only their owner can read them', async () => {
    expect(await profilesFinding(join(folder, 'profiles'))).toEqual({ state: 'ok', found: 'none kept yet' });
    writeFileSync(join(folder, 'p-1.json'), '{}', { mode: 0o600 });
    expect(await profilesFinding(folder)).toMatchObject({ state: 'ok', found: expect.stringContaining('1 profile') });
  });
  it('are broken when others can, with the commands to run', async () => {
    const { profiles } = homePaths(folder);
    mkdirSync(profiles, { mode: 0o700 });
    for (const [name, mode] of [
      ['a.json', 0o640],
      ['b.json', 0o600],
    ] as const) {
      writeFileSync(join(profiles, name), '{"apiKey":"key-in-a-profile"}');
      chmodSync(join(profiles, name), mode);
    }
    chmodSync(profiles, 0o711);
    const finding = await profilesFinding(profiles);
    const a = join(profiles, 'a.json');
    expect(finding).toMatchObject({ state: 'bad', found: `others can read ${profiles}, ${a}, where keys are kept` });
    expect(finding.next).toContain(`chmod 700 '${profiles}' && chmod 600 '${a}'`);
    expect(JSON.stringify(finding)).not.toContain('key-in-a-profile');
    const [, command = ''] = /`(.*)`/.exec(finding.next ?? '') ?? [];
    expect(spawnSync('/bin/sh', ['-c', command]).status).toBe(0);
    expect((await profilesFinding(profiles)).state).toBe('ok');
  });
});

describe('Temporal CLI', () => {
  const look = (env: NodeJS.ProcessEnv) => temporalCliCheck.look(beginExamination({ home: folder, env }));
  const good = 'echo "temporal version 1.9.1 (Server 1.32.0, UI 2.54.1)"';
  it('is well where there is one, and says where', async () => {
    const kept = program('bin/temporal', good);
    expect(await look({ PATH: '' })).toEqual({ state: 'ok', found: `1.9.1, ${kept}` });
    const named = program('named', good);
    expect((await look({ LONGHAUL_TEMPORAL_CLI: named }))?.found).toBe(`1.9.1, ${named} (LONGHAUL_TEMPORAL_CLI)`);
  });
  it('is well where it is fetched when needed, or not needed, and fetches nothing now', async () => {
    expect((await look({ PATH: '' }))?.found).toContain('is fetched when the service first starts');
    expect(await look({ PATH: '', TEMPORAL_ADDRESS: '127.0.0.1:1' })).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('not needed'),
    });
    expect(existsSync(join(folder, 'bin'))).toBe(false);
  });
  it('deserves a look when an old one stands in the way', async () => {
    const old = program('path/temporal', 'echo "temporal version 0.9.0 (Server 1.20.3, UI 2.0.0)"');
    const finding = await look({ PATH: dirname(old) });
    expect(finding).toMatchObject({
      state: 'warn',
      found: expect.stringContaining(`passed over ${old}: its server is 1.20`),
    });
  });
  it('is broken when the variable names the wrong thing, or none can be had', async () => {
    const absent = join(folder, 'absent');
    expect(await look({ LONGHAUL_TEMPORAL_CLI: absent })).toMatchObject({
      state: 'bad',
      found: expect.stringContaining(absent),
    });
    const broken = program('broken', 'exit 9');
    expect((await look({ LONGHAUL_TEMPORAL_CLI: broken }))?.found).toContain('cannot be run');
    expect(temporalCliFinding({ needed: true, candidates: [] }, 'aix-ppc64').state).toBe('bad');
  });
});

function canMount(): boolean {
  const point = mkdtempSync(join(tmpdir(), 'longhaul-mount-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', point]);
  if (status === 0) spawnSync('umount', [point]);
  rmSync(point, { recursive: true, force: true });
  return status === 0;
}

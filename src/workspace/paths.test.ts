import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { tempFolder } from '../../test/support/tools.js';
import { ToolError } from '../tools/tool.js';
import { isInside, resolveInWorkspace } from './paths.js';

async function folders() {
  const root = await tempFolder();
  const [workspace, outside] = [join(root, 'space'), join(root, 'out')];
  await mkdir(join(workspace, 'src'), { recursive: true });
  await mkdir(outside);
  await writeFile(join(workspace, 'src/a.ts'), 'a');
  await writeFile(join(outside, 'secret'), 's');
  return { root, workspace, outside };
}

test('plain paths, relative and absolute, existing and new', async () => {
  const { workspace } = await folders();
  const file = {
    real: join(workspace, 'src/a.ts'),
    display: 'src/a.ts',
    outside: false,
    exists: true,
    kind: 'file',
    guarded: false,
    link: false,
  };
  expect(await resolveInWorkspace(workspace, 'src/a.ts')).toEqual(file);
  expect(await resolveInWorkspace(workspace, './src//x/../a.ts')).toEqual(file);
  expect(await resolveInWorkspace(workspace, join(workspace, 'src/a.ts'))).toEqual(file);
  expect(await resolveInWorkspace(workspace, '.')).toMatchObject({ display: '.', kind: 'directory', outside: false });
  const fresh = {
    real: join(workspace, 'new/b.ts'),
    display: 'new/b.ts',
    outside: false,
    exists: false,
    kind: 'missing',
    guarded: false,
    link: false,
  };
  expect(await resolveInWorkspace(workspace, 'new/b.ts')).toEqual(fresh);
});

test('what leads out is outside, by whatever way', async () => {
  const { workspace, outside } = await folders();
  await symlink(outside, join(workspace, 'dir-link'));
  await symlink('../out/secret', join(workspace, 'file-link'));
  await symlink(join(outside, 'not-yet'), join(workspace, 'dangling'));
  await symlink('dangling', join(workspace, 'second'));
  const cases: [string, string][] = [
    ['../out/secret', 'secret'],
    ['src/../../out/secret', 'secret'],
    [join(outside, 'secret'), 'secret'],
    ['dir-link/secret', 'secret'],
    ['dir-link/new/file', 'new/file'],
    ['file-link', 'secret'],
    ['dangling', 'not-yet'],
    ['second', 'not-yet'],
  ];
  for (const [given, end] of cases) {
    const real = join(outside, end);
    expect(await resolveInWorkspace(workspace, given), given).toMatchObject({ real, display: real, outside: true });
  }
  // As the kernel reads it: the parent of where the link leads, not of where it stands.
  expect(await resolveInWorkspace(workspace, 'dir-link/../space/src/a.ts')).toMatchObject({ display: 'src/a.ts' });
  expect(await resolveInWorkspace(workspace, 'dir-link/../src/a.ts')).toMatchObject({ outside: true, exists: false });
  expect(await resolveInWorkspace(workspace, '~/x-not-there')).toMatchObject({ real: join(homedir(), 'x-not-there') });
});

test('a sibling whose name begins like the workspace is outside', async () => {
  const { root, workspace } = await folders();
  await mkdir(join(root, 'space-2'));
  expect(await resolveInWorkspace(workspace, '../space-2')).toMatchObject({ outside: true });
  expect(isInside('/', '/etc')).toBe(true);
});

test('links inside the tree work, and a workspace given by a link is its target', async () => {
  const { root, workspace } = await folders();
  await symlink('src', join(workspace, 'lib'));
  await symlink(workspace, join(root, 'alias'));
  const expected = { real: join(workspace, 'src/a.ts'), display: 'src/a.ts', outside: false };
  expect(await resolveInWorkspace(workspace, 'lib/a.ts')).toMatchObject(expected);
  expect(await resolveInWorkspace(join(root, 'alias'), 'src/a.ts')).toMatchObject(expected);
  expect(await resolveInWorkspace(workspace, join(root, 'alias/src/a.ts'))).toMatchObject(expected);
});

test('paths that no tool may use are refused with a reason', async () => {
  const { workspace } = await folders();
  await symlink('loop-b', join(workspace, 'loop-a'));
  await symlink('loop-a', join(workspace, 'loop-b'));
  execFileSync('mkfifo', [join(workspace, 'pipe')]);
  const server = createServer().listen(join(workspace, 'sock'));
  onTestFinished(() => void server.close());
  await new Promise((ready) => server.once('listening', ready));
  const cases: [string, RegExp][] = [
    ['', /empty/],
    [' \n', /empty/],
    ['a\0b', /NUL/],
    ['x'.repeat(256), /longer than/],
    ['x/'.repeat(2100), /longer than/],
    ['@root:/etc/passwd', /no root prefixes/],
    ['@x:../../etc/passwd', /no root prefixes/],
    ['loop-a', /loop/],
    ['src/a.ts/b', /is a file, not a directory/],
    ['pipe', /device, socket or pipe/],
    ['sock', /device, socket or pipe/],
    ['/dev/null', /device, socket or pipe/],
  ];
  for (const [given, reason] of cases) {
    const refusal = await resolveInWorkspace(workspace, given).catch((err: unknown) => err);
    expect(refusal, given.slice(0, 40)).toBeInstanceOf(ToolError);
    expect((refusal as Error).message).toMatch(reason);
  }
  expect(await resolveInWorkspace(workspace, './@root:x')).toMatchObject({ display: '@root:x', outside: false });
});

test('never says inside of a path that the kernel resolves to outside', async () => {
  const { workspace, outside } = await folders();
  await symlink(outside, join(workspace, 'out'));
  await symlink('..', join(workspace, 'src/up'));
  await symlink('../src', join(workspace, 'src/self'));
  const part = fc.constantFrom('..', '.', 'src', 'out', 'up', 'self', 'a.ts', 'secret', 'space', '');
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 8 }), async (parts) => {
      const given = `./${parts.join('/')}`;
      const resolved = await resolveInWorkspace(workspace, given).catch(() => undefined);
      let kernel: string;
      try {
        kernel = execFileSync('realpath', ['-e', '--', given], {
          cwd: workspace,
          encoding: 'utf8',
          stdio: 'pipe',
        }).trimEnd();
      } catch {
        return;
      }
      expect(resolved).toMatchObject({ real: kernel, outside: !isInside(workspace, kernel) });
    }),
    { numRuns: 150 },
  );
});

test('the spellings of a path that models use', async () => {
  const { workspace, outside } = await folders();
  await writeFile(join(workspace, 'a b%20c.txt'), 'x');
  await writeFile(join(workspace, 'back\\slash'), 'x');
  await writeFile(join(workspace, 'two\nlines '), 'x');
  const url = (path: string) => `file://${path.replaceAll('%', '%25').replaceAll(' ', '%20')}`;
  const cases: [string, string][] = [
    [url(join(workspace, 'src/a.ts')), 'src/a.ts'],
    [url(join(workspace, 'a b%20c.txt')), 'a b%20c.txt'],
    ['a b%20c.txt', 'a b%20c.txt'],
    ['back\\slash', 'back\\slash'],
    ['two\nlines ', 'two\nlines '],
    [`/proc/self/root${workspace}/src/a.ts`, 'src/a.ts'],
    ['src/../src/./a.ts', 'src/a.ts'],
    ['new.ts.', 'new.ts.'],
  ];
  for (const [given, display] of cases) {
    expect(await resolveInWorkspace(workspace, given), given).toMatchObject({ display, outside: false });
  }
  expect(await resolveInWorkspace(workspace, url(join(outside, 'secret')))).toMatchObject({ outside: true });
  expect(await resolveInWorkspace(workspace, '/proc/self/cwd')).toMatchObject({ real: process.cwd(), outside: true });
  const refused: [string, RegExp][] = [
    ['file://elsewhere/etc/passwd', /not the URL of a local file/],
    ['file:///a%00b', /not the URL of a local file|NUL/],
    ['file:///a%2fb', /not the URL of a local file/],
    ['new\nname', /control character/],
    ['new\u0007name', /control character/],
    ['a.ts ', /white space/],
    [' dir/a.ts', /white space/],
    ['src\\new.ts', /backslashes/],
    ['~root/x', /only "~\/" expands/],
  ];
  for (const [given, reason] of refused) {
    await expect(resolveInWorkspace(workspace, given), given).rejects.toThrow(reason);
  }
});

test('long names: what the file system takes works, what it does not is told', async () => {
  const { workspace } = await folders();
  const long = 'é'.repeat(127);
  expect(await resolveInWorkspace(workspace, long)).toMatchObject({ exists: false });
  await writeFile(join(workspace, long), 'x');
  expect(await resolveInWorkspace(workspace, long)).toMatchObject({ kind: 'file' });
  await expect(resolveInWorkspace(workspace, `${long}éé`)).rejects.toThrow('longer than a file system allows');
});

test('whether the last part was a link is told', async () => {
  const { workspace } = await folders();
  await symlink('src', join(workspace, 'dir'));
  await symlink('dir/a.ts', join(workspace, 'file'));
  const link = async (given: string) => (await resolveInWorkspace(workspace, given)).link;
  expect([await link('file'), await link('dir'), await link('dir/a.ts'), await link('src/a.ts')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

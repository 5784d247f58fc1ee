import { chmod, mkdir, readFile as read, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Bench, tempFolder, toolBench } from '../../test/support/tools.js';
import { applyPatch } from './apply-patch.js';

const patch = (...lines: string[]) => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');

async function put(bench: Bench, name: string, content: string | Buffer): Promise<string> {
  const path = join(bench.workspace, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, content);
  return path;
}

async function apply(bench: Bench, input: string, more = {}) {
  return bench.run(applyPatch, { input }, more);
}

const text = (bench: Bench, name: string) => read(join(bench.workspace, name), 'utf8');

test('adds, changes, moves and deletes files, and says what each one became', async () => {
  const bench = await toolBench();
  await put(bench, 'a.ts', 'one\ntwo\nthree\n');
  await chmod(await put(bench, 'run.sh', 'old\n'), 0o750);
  await put(bench, 'gone', 'x\n');
  const input = patch(
    '*** Update File: a.ts',
    '@@',
    ' one',
    '-two',
    "+$& $' $1",
    ' three',
    '*** Update File: run.sh',
    '*** Move to: bin/run.sh',
    '-old',
    '+new',
    '*** Add File: docs/n.md',
    '+first',
    '+',
    '+last',
    '*** Delete File: gone',
  );
  const prepared = await bench.prepare(applyPatch, { input });
  expect(prepared).toMatchObject({ approval: { need: 'edit', outside: false } });
  expect(prepared.summary).toBe('apply_patch a.ts, run.sh -> bin/run.sh, docs/n.md, gone');
  expect(prepared.preview).toContain('-two\n+$&');
  expect(prepared.preview).toContain('(move to bin/run.sh)');
  expect(prepared.preview).toContain('(delete)\n--- a/gone');
  expect((await readdir(bench.workspace)).sort()).toEqual(['a.ts', 'gone', 'run.sh']);
  const outcome = await apply(bench, input, { approved: { base: prepared.base } });
  expect(outcome).toMatchObject({ status: 'done', change: { added: 5, removed: 3 } });
  for (const line of [
    'updated a.ts (+1 -1)',
    'moved run.sh -> bin/run.sh (+1 -1)',
    'added docs/n.md',
    'deleted gone',
  ]) {
    expect(outcome.text).toContain(line);
  }
  expect(await text(bench, 'a.ts')).toBe("one\n$& $' $1\nthree\n");
  expect(await text(bench, 'bin/run.sh')).toBe('new\n');
  expect((await stat(join(bench.workspace, 'bin/run.sh'))).mode & 0o777).toBe(0o750);
  expect(await text(bench, 'docs/n.md')).toBe('first\n\nlast\n');
  expect((await readdir(bench.workspace)).sort()).toEqual(['a.ts', 'bin', 'docs']);
});

test('encoding, byte order mark and line endings of each file are kept', async () => {
  const bench = await toolBench();
  await put(bench, 'crlf', 'a\r\nb\r\nc');
  await put(bench, 'u16', Buffer.from('\ufeffä\r\nb\r\n', 'utf16le'));
  await put(bench, 'latin', Buffer.from([0xe4, 0x0a, 0x62, 0x0a]));
  const change = ['@@', '-b', '+ö'];
  await apply(bench, patch(...['crlf', 'u16', 'latin'].flatMap((name) => [`*** Update File: ${name}`, ...change])));
  expect(await text(bench, 'crlf')).toBe('a\r\nö\r\nc');
  expect(await read(join(bench.workspace, 'u16'))).toEqual(Buffer.from('\ufeffä\r\nö\r\n', 'utf16le'));
  expect(await read(join(bench.workspace, 'latin'))).toEqual(Buffer.from([0xe4, 0x0a, 0xf6, 0x0a]));
});

test('what models send besides: wrappers, missing markers, line numbers, other white space', async () => {
  const bench = await toolBench();
  const body = ['*** Update File: f', '@@', ' keep', '-old', '+new'];
  const given = [
    patch(...body),
    body.join('\n'),
    `Here it is:\n\`\`\`diff\n${patch(...body)}\n\`\`\`\nDone.`,
    `\`\`\`\n${body.join('\n')}\n\`\`\``,
    `apply_patch <<'EOF'\n${patch(...body)}\nEOF\n`,
    `bash -lc "apply_patch <<'PATCH'\n${body.join('\n')}\nPATCH\n"`,
    patch(...body).replaceAll('\n', '\r\n'),
    patch('*** Update File: f', '--- a/f', '+++ b/f', '@@ -1,2 +1,2 @@', ' keep', '-old', '+new'),
    patch('*** Update File: f', 'keep', '-old', '+new'),
    patch('*** Update File: f', '@@', '   keep  ', '-\told', '+new'),
    patch('*** Update File: f', '@@', ' keep', '-old', '+new', '', ''),
    patch('*** Update File: f ', '', '-old', '+new', '*** End of File'),
    patch('***Update File: f', '@@ keep', '-old', '+new'),
  ];
  for (const input of given) {
    await put(bench, 'f', 'keep\nold\n');
    const outcome = await apply(bench, input);
    expect(outcome.status, `${input}\n${outcome.text}`).toBe('done');
    expect(await text(bench, 'f'), input).toBe('keep\nnew\n');
  }
});

test('anchors, several hunks, ends of files, and lines that are only added', async () => {
  const bench = await toolBench();
  const file = 'class A:\n  def f(self):\n    return 1\n\nclass B:\n  def f(self):\n    return 1\n';
  const cases: [string[], string][] = [
    [['@@ class B:', '-    return 1', '+    return 2'], file.replace(/1\n$/, '2\n')],
    [['@@ class B:', '@@   def f(self):', '-    return 1', '+    return 2'], file.replace(/1\n$/, '2\n')],
    [['-    return 1', '+    return 2', '*** End of File'], file.replace(/1\n$/, '2\n')],
    [
      ['-    return 1', '+    return 2', '@@', '-    return 1', '+    return 3'],
      file.replace('1', '2').replace(/1\n$/, '3\n'),
    ],
    [['@@ class B:', '+  x = 0'], file.replace('class B:\n', 'class B:\n  x = 0\n')],
    [['+# end'], `${file}# end\n`],
    [[' class A:', '+', '   def f(self):'], file.replace('class A:\n', 'class A:\n\n')],
    [['     return 1', '', '-class B:', '+class C:'], file.replace('class B', 'class C')],
  ];
  for (const [lines, expected] of cases) {
    await put(bench, 'f.py', file);
    const outcome = await apply(bench, patch('*** Update File: f.py', ...lines));
    expect(outcome.status, outcome.text).toBe('done');
    expect(await text(bench, 'f.py'), lines.join('\n')).toBe(expected);
  }
});

test('what does not fit changes no file, and is told with what is there', async () => {
  const bench = await toolBench();
  const before = { a: 'one\ntwo\n', b: 'here\n' };
  for (const [name, content] of Object.entries(before)) await put(bench, name, content);
  await symlink('a', join(bench.workspace, 'link'));
  await mkdir(join(bench.workspace, 'dir'));
  const good = ['*** Update File: a', '-one', '+ONE'];
  const cases: [string[], RegExp][] = [
    [
      ['*** Update File: b', '-there', '+x'],
      /The hunk does not match "b"[\s\S]*Nothing was changed|No line of the file/,
    ],
    [['*** Update File: b', '@@ nowhere', '-here', '+x'], /there is no line "nowhere"/],
    [['*** Update File: c', '-x', '+y'], /"c" does not exist/],
    [['*** Delete File: c'], /"c" does not exist/],
    [['*** Delete File: dir'], /is a directory/],
    [['*** Add File: b', '+x'], /"b" exists already/],
    [['*** Update File: b', '*** Move to: dir'], /"dir" exists already/],
    [['*** Update File: b', '*** Move to: a2', '*** Add File: a2', '+x'], /names the file "a2" twice/],
    [['*** Update File: link', '-one', '+x'], /names the file "a" twice/],
    [['*** Delete File: b', '*** Delete File: b'], /comes twice/],
    [['*** Delete File: b', 'stray'], /takes no lines/],
    [['*** Update File: b'], /changes nothing/],
    [['*** Update File: b', ' here'], /no line with "\+" or "-"/],
    [['*** Add File: n', '+x', 'y'], /does not begin with "\+"/],
    [['*** Rename File: b'], /no line with|does not match|is not the header/],
  ];
  for (const [lines, reason] of cases) {
    const outcome = await apply(bench, patch(...good, ...lines));
    expect(outcome, lines.join('\n')).toMatchObject({ status: 'error' });
    expect(outcome.text).toMatch(reason);
    expect(outcome.text).toMatch(/Nothing was changed|list_files/);
    for (const [name, content] of Object.entries(before)) expect(await text(bench, name)).toBe(content);
    expect((await readdir(bench.workspace)).sort()).toEqual(['a', 'b', 'dir', 'link']);
  }
  const link = await apply(bench, patch('*** Delete File: link'));
  expect(link.text).toContain('is a symbolic link to "a"');
  expect((await apply(bench, 'nothing')).text).toContain('it names no file');
});

test('no path of a patch leads out of the workspace unasked', async () => {
  const bench = await toolBench();
  const outside = await tempFolder();
  await writeFile(join(outside, 'secret'), 'canary\n');
  await put(bench, 'in', 'x\n');
  await symlink(outside, join(bench.workspace, 'dir'));
  await symlink(join(outside, 'new'), join(bench.workspace, 'dangling'));
  for (const lines of [
    ['*** Delete File: dir/secret'],
    [`*** Update File: ${outside}/secret`, '-canary', '+x'],
    ['*** Update File: in', '*** Move to: dir/in'],
    ['*** Update File: dir/secret', '*** Move to: stolen'],
    ['*** Add File: dangling', '+x'],
    ['*** Add File: dir/new/n', '+x'],
  ]) {
    const input = patch('*** Update File: in', '-x', '+y', ...lines);
    const once = lines[0]?.includes('File: in') ? patch(...lines) : input;
    expect((await bench.prepare(applyPatch, { input: once })).approval, lines.join()).toEqual({
      need: 'edit',
      outside: true,
    });
    expect((await apply(bench, once)).status, lines.join()).toBe('error');
    expect(await text(bench, 'in')).toBe('x\n');
    expect(await readdir(outside)).toEqual(['secret']);
    expect(await read(join(outside, 'secret'), 'utf8')).toBe('canary\n');
  }
});

test('a file of it that changed after the approval keeps all of them from being written', async () => {
  const bench = await toolBench();
  await put(bench, 'a', 'a\n');
  await put(bench, 'b', 'b\n');
  const input = patch('*** Update File: a', '-a', '+A', '*** Update File: b', '-b', '+B');
  const { base } = await bench.prepare(applyPatch, { input });
  await put(bench, 'b', 'b\ntheirs\n');
  const outcome = await apply(bench, input, { approved: { base } });
  expect(outcome).toMatchObject({ status: 'error', mistake: false });
  expect(outcome.text).toContain('no file was changed');
  expect([await text(bench, 'a'), await text(bench, 'b')]).toEqual(['a\n', 'b\ntheirs\n']);
});

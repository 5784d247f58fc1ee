import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile as read, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Bench, toolBench } from '../../test/support/tools.js';
import { readFile } from './read-file.js';
import { replaceInFile } from './replace-in-file.js';
import { writeToFile } from './write-to-file.js';

const sha = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

function diffOf(search: string, replace: string): string {
  return `------- SEARCH\n${search}\n=======\n${replace}\n+++++++ REPLACE`;
}

async function put(bench: Bench, path: string, content: string | Buffer): Promise<string> {
  await writeFile(join(bench.workspace, path), content);
  return join(bench.workspace, path);
}

test('read_file: numbered window, ranges, footer', async () => {
  const bench = await toolBench();
  await put(bench, 'long.txt', Array.from({ length: 2500 }, (_, i) => `line ${i + 1}\n`).join(''));
  const first = await bench.run(readFile, { path: 'long.txt' });
  expect(first.text.startsWith('1 | line 1\n2 | line 2\n')).toBe(true);
  expect(first.text.endsWith('1000 | line 1000\n\n(lines 1-1000 of 2500; go on with start_line 1001)')).toBe(true);
  const wide = await bench.run(readFile, { path: 'long.txt', start_line: 2400, end_line: 900 });
  expect(wide.text.split('\n')[0]).toBe('900 | line 900');
  expect(wide.text).toContain('(lines 900-2400 of 2500; go on with start_line 2401)');
  expect((await bench.run(readFile, { path: 'long.txt', start_line: -5, end_line: 1 })).text).toMatch(
    /^1 \| line 1\n\n\(lines 1-1 /,
  );
  expect(await bench.run(readFile, { path: 'long.txt', start_line: 9999 })).toMatchObject({
    status: 'error',
    text: '"long.txt" has 2500 lines; there is no line 9999.',
  });
  await put(bench, 'short.txt', 'a\r\nb');
  expect((await bench.run(readFile, { path: 'short.txt' })).text).toBe('1 | a\n2 | b\n\n(end of file, 2 lines)');
  await put(bench, 'empty', '');
  expect((await bench.run(readFile, { path: 'empty' })).text).toBe('(the file is empty)');
});

test('read_file: a file of 5 MB stays under 400 KB, and every line can be reached', async () => {
  const bench = await toolBench();
  await put(bench, 'big.log', Array.from({ length: 50_000 }, (_, i) => `${i + 1} ${'x'.repeat(95)}\n`).join(''));
  const all = await bench.run(readFile, { path: 'big.log', end_line: '50000' as unknown as number });
  expect(all.text.length).toBeLessThan(410 * 1024);
  expect(all.text).toMatch(/cut at 400 KB; go on with start_line \d+\)$/);
  expect((await bench.run(readFile, { path: 'big.log', start_line: 40_000, end_line: 40_000 })).text).toContain(
    '40000 | 40000 xxx',
  );
  await put(bench, 'one-line', 'y'.repeat(600_000));
  const cut = await bench.run(readFile, { path: 'one-line' });
  expect(cut.text.length).toBeLessThan(410 * 1024);
  expect(cut.text).toContain('line 1 is cut, it has 600000 characters');
});

test('read_file refuses what is no text, too large, or not there', async () => {
  const bench = await toolBench();
  await put(bench, 'p.png', Buffer.from('89504e470d0a1a0a0000000d', 'hex'));
  await put(bench, 'huge', Buffer.alloc(20_480_001, 97));
  await mkdir(join(bench.workspace, 'dir'));
  for (const [path, reason] of [
    ['p.png', 'a PNG image'],
    ['huge', 'larger than 20,480,000 bytes'],
    ['dir', 'is a directory'],
    ['no', 'does not exist'],
  ]) {
    const outcome = await bench.run(readFile, { path });
    expect(outcome).toMatchObject({ status: 'error', mistake: true });
    expect(outcome.text).toContain(reason);
  }
});

test('write_to_file is byte-exact, whatever the text holds', async () => {
  const bench = await toolBench();
  const contents = [
    '',
    '```ts\ncode\n```\n',
    'a </content>\n<content>x</write_to_file>\n<parameter name="x">&lt;&amp;',
    'crlf\r\nlf\nno end',
    '\ufeffwith mark',
    '\u0001\u001b[31m\u0007',
    '$& $$ $` é 😀 \ufffd',
    '------- SEARCH\nx\n=======\n',
  ];
  for (const [i, content] of contents.entries()) {
    for (const path of [`new/deep/${i}.txt`, 'same.txt']) {
      expect(await bench.run(writeToFile, { path, content })).toMatchObject({ status: 'done' });
      expect(sha(await read(join(bench.workspace, path)))).toBe(sha(content));
    }
  }
  await bench.run(writeToFile, { path: '```html', content: 'odd name' });
  expect(await read(join(bench.workspace, '```html'), 'utf8')).toBe('odd name');
  expect(await bench.run(writeToFile, { path: 'half', content: 'x\ud800' })).toMatchObject({ status: 'error' });
  expect(await readdir(bench.workspace)).toEqual(['```html', 'new', 'same.txt']);
});

test('nothing is on disk before the call runs', async () => {
  const bench = await toolBench();
  const prepared = await bench.prepare(writeToFile, { path: 'a/b/c.txt', content: 'x\u001b[2K\u202e\n' });
  expect(prepared).toMatchObject({ approval: { need: 'edit', outside: false }, summary: 'write_to_file a/b/c.txt' });
  expect(prepared.preview).toBe('--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,1 @@\n+x\u241b[2K\\u202e\n');
  expect(prepared).not.toHaveProperty('base');
  expect(await readdir(bench.workspace)).toEqual([]);
  await put(bench, 'f', 'one\n');
  const change = await bench.prepare(replaceInFile, { path: 'f', diff: diffOf('one', 'two') });
  expect(change).toMatchObject({ base: sha('one\n'), preview: '--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-one\n+two\n' });
  expect(await read(join(bench.workspace, 'f'), 'utf8')).toBe('one\n');
});

test('a call that only fits after an earlier one is prepared, and decided when it runs', async () => {
  const bench = await toolBench();
  const args = { path: 'later.txt', diff: diffOf('a', 'b') };
  const prepared = await bench.prepare(replaceInFile, args);
  expect(prepared.preview).toContain('later.txt');
  expect(prepared.preview).toContain('------- SEARCH');
  expect(await bench.run(replaceInFile, args)).toMatchObject({ status: 'error' });
  await put(bench, 'later.txt', 'a\n');
  expect(await bench.run(replaceInFile, args, { approved: {} })).toMatchObject({ status: 'done' });
  await expect(bench.prepare(replaceInFile, { path: 'later.txt', diff: 'nothing' })).rejects.toThrow(
    'no SEARCH/REPLACE block',
  );
});

test('replace_in_file gives the new baseline back, and a diff when the file is long', async () => {
  const bench = await toolBench();
  const file = await put(bench, 'f.ts', 'a\r\nb\r\nc');
  const outcome = await bench.run(replaceInFile, { path: 'f.ts', diff: diffOf('b', "$& $' $1") });
  expect(await read(file, 'utf8')).toBe("a\r\n$& $' $1\r\nc");
  expect(outcome.text).toContain(`<final_file_content path="f.ts">\na\r\n$& $' $1\r\nc\n</final_file_content>`);
  expect(outcome.excerpt).toBe('saved f.ts (+1 -1)');
  const big = Array.from({ length: 200_000 }, (_, i) => `line ${i} ${'-'.repeat(40)}\n`).join('');
  const long = await put(bench, 'big.txt', big);
  const line = `line 150000 ${'-'.repeat(40)}`;
  const changed = await bench.run(replaceInFile, { path: 'big.txt', diff: diffOf(line, 'changed') });
  expect(changed.text.length).toBeLessThan(2000);
  expect(changed.text).toContain(`-${line}\n+changed\n`);
  expect(sha(await read(long))).toBe(sha(big.replace(line, 'changed')));
});

test('a failed edit changes nothing and says what is there', async () => {
  const bench = await toolBench();
  const file = await put(bench, 'f', 'keep\nthis\n');
  const outcome = await bench.run(replaceInFile, { path: 'f', diff: `${diffOf('keep', 'x')}\n${diffOf('that', 'y')}` });
  expect(outcome).toMatchObject({ status: 'error', mistake: true });
  expect(outcome.text).toContain('Block 2 of 2 does not match "f". Nothing was changed.');
  expect(await read(file, 'utf8')).toBe('keep\nthis\n');
});

test('encoding and byte order mark are kept, or the edit is refused', async () => {
  const bench = await toolBench();
  const utf16 = await put(bench, 'u16.txt', Buffer.from('\ufeffä\r\nb\r\n', 'utf16le'));
  await bench.run(replaceInFile, { path: 'u16.txt', diff: diffOf('b', 'ö€') });
  expect(await read(utf16)).toEqual(Buffer.from('\ufeffä\r\nö€\r\n', 'utf16le'));
  const latin = await put(bench, 'latin.txt', Buffer.from([0xe4, 0x0a, 0x62, 0x0a, 0x81, 0x0a]));
  const edited = await bench.run(replaceInFile, { path: 'latin.txt', diff: diffOf('b', 'é') });
  expect(edited.text).toContain('characters that are not ASCII were taken as Windows-1252');
  const expected = Buffer.from([0xe4, 0x0a, 0xe9, 0x0a, 0x81, 0x0a]);
  expect(await read(latin)).toEqual(expected);
  const refused = await bench.run(replaceInFile, { path: 'latin.txt', diff: diffOf('é', '→') });
  expect(refused).toMatchObject({ status: 'error' });
  expect(refused.text).toContain('cannot hold the character "→"');
  expect(await read(latin)).toEqual(expected);
  expect((await bench.run(writeToFile, { path: 'u16.txt', content: 'x\n' })).text).toContain(
    'Its encoding was utf-16le; it is utf-8 now.',
  );
});

test('a file that changed after its approval is not written', async () => {
  const bench = await toolBench();
  const file = await put(bench, 'f', 'one\n');
  const cases = [
    { tool: writeToFile, args: { path: 'f', content: 'mine\n' } },
    { tool: replaceInFile, args: { path: 'f', diff: diffOf('one', 'mine') } },
  ];
  for (const { tool, args } of cases) {
    await writeFile(file, 'one\n');
    const { base } = await bench.prepare(tool, args);
    await writeFile(file, 'one\ntheirs\n');
    const outcome = await bench.run(tool, args, { approved: { base: base ?? '' } });
    expect(outcome).toMatchObject({ status: 'error', mistake: false });
    expect(outcome.text).toMatch(/changed since it was approved[\s\S]*nothing was written[\s\S]*2 \| theirs/);
    expect(await read(file, 'utf8')).toBe('one\ntheirs\n');
  }
  await put(bench, 'came', 'theirs');
  const came = await bench.run(writeToFile, { path: 'came', content: 'mine' }, { approved: {} });
  expect(came.text).toContain('nothing was written');
  expect(await read(join(bench.workspace, 'came'), 'utf8')).toBe('theirs');
});

test('mode, links and read-only files', async () => {
  const bench = await toolBench();
  const script = await put(bench, 'run.sh', 'a\n');
  await chmod(script, 0o750);
  await symlink('run.sh', join(bench.workspace, 'link'));
  await bench.run(replaceInFile, { path: 'link', diff: diffOf('a', 'b') });
  expect(await read(script, 'utf8')).toBe('b\n');
  expect((await stat(script)).mode & 0o777).toBe(0o750);
  expect(
    (await readdir(bench.workspace, { withFileTypes: true })).find((entry) => entry.name === 'link')?.isSymbolicLink(),
  ).toBe(true);
  await chmod(script, 0o444);
  const refused = await bench.run(writeToFile, { path: 'run.sh', content: 'c' });
  expect(refused.text).toContain('is read-only');
  expect(await read(script, 'utf8')).toBe('b\n');
  expect(await readdir(bench.workspace)).toEqual(['link', 'run.sh']);
  const below = await bench.run(writeToFile, { path: 'run.sh/x', content: 'c' });
  expect(below.text).toContain('is a file, not a directory');
});

test('the same content again is not written', async () => {
  const bench = await toolBench();
  const file = await put(bench, 'f', 'a\n');
  const before = await stat(file, { bigint: true });
  expect((await bench.run(writeToFile, { path: 'f', content: 'a\n' })).text).toContain('nothing to write');
  expect((await stat(file, { bigint: true })).ino).toBe(before.ino);
});

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { toolBench } from '../../test/support/tools.js';
import { searchFiles } from './search-files.js';

async function benchWith(files: Record<string, string | Buffer>) {
  const bench = await toolBench();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(bench.workspace, path)), { recursive: true });
    await writeFile(join(bench.workspace, path), content);
  }
  return { bench, search: (args: Record<string, unknown>) => bench.run(searchFiles, { path: '.', ...args }) };
}

test('results are grouped by file, with a line of context and gaps', async () => {
  const { search } = await benchWith({
    'src/a.ts': 'one\nfoo\nthree\n4\n5\nfoo(6)\n',
    'b.ts': 'foo\r\nx\r\n',
    'c.md': 'bar\n',
  });
  expect((await search({ regex: 'foo$|foo\\(' })).text).toBe(
    [
      'Found 3 results.',
      '',
      'b.ts',
      '1: foo',
      '2- x',
      '',
      'src/a.ts',
      '1- one',
      '2: foo',
      '3- three',
      '--',
      '5- 5',
      '6: foo(6)',
    ].join('\n'),
  );
  expect((await search({ path: 'src', regex: 'foo', file_pattern: '*.md' })).text).toBe('Found 0 results.');
  expect((await search({ path: 'src/a.ts', regex: 'three' })).text).toContain('src/a.ts\n2- foo\n3: three');
});

test('globs with a directory are relative to the searched one', async () => {
  const { search } = await benchWith({ 'a [1]/x/m.ts': 'hit', 'a [1]/y/m.ts': 'hit', 'x/m.ts': 'hit' });
  expect((await search({ path: 'a [1]', regex: 'hit', file_pattern: 'x/*.ts' })).text).toBe(
    'Found 1 result.\n\na [1]/x/m.ts\n1: hit',
  );
});

test('ignore files of the workspace hold without a repository and below it', async () => {
  const { search } = await benchWith({
    '.gitignore': '/src/gen\n*.log\n',
    'src/gen/a.ts': 'hit',
    'src/b.log': 'hit',
    'src/c.ts': 'hit',
    '.env': 'hit',
  });
  for (const path of ['.', 'src'])
    expect((await search({ path, regex: 'hit' })).text).toBe('Found 1 result.\n\nsrc/c.ts\n1: hit');
});

test('a search that fails is an error, not zero results', async () => {
  const { search } = await benchWith({ 'a.ts': 'x' });
  const broken = await search({ regex: '(unclosed' });
  expect(broken).toMatchObject({ status: 'error', mistake: true });
  expect(broken.text).toMatch(/The search failed[\s\S]*unclosed/);
  expect(await search({ regex: 'x', file_pattern: '{a' })).toMatchObject({ status: 'error' });
  expect(await search({ regex: 'x', path: 'missing' })).toMatchObject({
    status: 'error',
    text: '"missing" does not exist.',
  });
  expect(await search({ regex: 'a\0' })).toMatchObject({ status: 'error' });
});

test('patterns that look like options, and those that need look-around', async () => {
  const { search } = await benchWith({ 'a.ts': '--files\nfoobar\nfoobaz\n' });
  expect((await search({ regex: '--files' })).text).toContain('1: --files');
  expect((await search({ regex: 'foo(?!bar)' })).text).toContain('Found 1 result.');
});

test('results, their size and long lines are bounded', async () => {
  const { search } = await benchWith({ 'many.txt': 'hit\n'.repeat(5000) });
  const many = (await search({ regex: 'hit' })).text;
  expect(many).toMatch(/^Found 300 or more results\. Only the first 300 are shown/);
  expect(many.match(/: hit/g)).toHaveLength(300);
  const wide = await benchWith({ 'min.js': `${'a'.repeat(100_000)}NEEDLE${'b'.repeat(2_000_000)}\n` });
  const line = (await wide.search({ regex: 'NEEDLE' })).text;
  expect(line).toContain('NEEDLE');
  expect(line.length).toBeLessThan(1000);
  const long = Object.fromEntries(Array.from({ length: 290 }, (_, i) => [`f${i}`, `${'x'.repeat(2000)}\n`.repeat(3)]));
  expect((await (await benchWith(long)).search({ regex: '^x' })).text.length).toBeLessThan(257 * 1024);
});

test('text that is not UTF-8 is found', async () => {
  const { search } = await benchWith({ 'latin.txt': Buffer.from([0x68, 0x69, 0x74, 0xe4, 0x0a]) });
  expect((await search({ regex: 'hit' })).text).toContain('1: hitä');
});

test('a search that is stopped ends', async () => {
  const { bench } = await benchWith({ 'a.ts': 'x' });
  await expect(
    bench.run(searchFiles, { path: '.', regex: 'x' }, { signal: AbortSignal.abort(new Error('stop')) }),
  ).rejects.toThrow('stop');
});

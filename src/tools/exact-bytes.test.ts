import { chmod, link, readFile as read, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { toolBench } from '../../test/support/tools.js';
import { applyPatch } from './apply-patch.js';
import { replaceInFile } from './replace-in-file.js';
import { writeToFile } from './write-to-file.js';

/** How a test makes the bytes of a file, each with text that the encoding has. */
const ENCODINGS: Record<string, { encode: (text: string) => Buffer; mark: string; chars: string[] }> = {
  utf8: {
    encode: (text) => Buffer.from(text),
    mark: '',
    chars: ['é', '\u0001', 'e\u0301', '“', '😀', '\u2028', '\ufffd', '日'],
  },
  'utf8 with mark': { encode: (text) => Buffer.from(text), mark: 'efbbbf', chars: ['é', '😀', '\ufeff'] },
  utf16le: { encode: (text) => Buffer.from(text, 'utf16le'), mark: 'fffe', chars: ['é', '😀', '日', '\u0a0d'] },
  utf16be: { encode: (text) => Buffer.from(text, 'utf16le').swap16(), mark: 'feff', chars: ['é', '😀', '\u0d0a'] },
  'windows-1252': { encode: (text) => iconv.encode(text, 'windows-1252'), mark: '', chars: ['é', '€', '“'] },
  gbk: { encode: (text) => iconv.encode(text, 'gbk'), mark: '', chars: ['汉', '字', '俓'] },
  'shift-jis': { encode: (text) => iconv.encode(text, 'shift_jis'), mark: '', chars: ['表', 'ソ', '能'] },
  'latin-2': { encode: (text) => iconv.encode(text, 'iso-8859-2'), mark: '', chars: ['ł', 'ő', 'Č'] },
};

const ODD = ['$&', "$'", '=======', '<<<<<<< HEAD', '>>>>>>> x', '*** End Patch', '\t', '  ', '\r', '@@'];

/** A file of lines that are all different; one of them, in ASCII, is what the edit changes. */
const fileOf = (chars: string[]) =>
  fc.record({
    lines: fc.array(
      fc.record({
        text: fc.array(fc.constantFrom(...chars, ...ODD, 'a', 'Z'), { maxLength: 6 }).map((parts) => parts.join('')),
        end: fc.constantFrom('\n', '\r\n'),
      }),
      { minLength: 1, maxLength: 12 },
    ),
    at: fc.nat(11),
    finalBreak: fc.boolean(),
    insert: fc.array(fc.constantFrom(...ODD.filter((text) => text !== '\r'), 'new', ''), {
      minLength: 1,
      maxLength: 3,
    }),
  });

test.each(Object.keys(ENCODINGS))(
  '%s: bytes outside the changed line are the same, byte for byte',
  { timeout: 60_000 },
  async (name) => {
    const { encode, mark, chars } = ENCODINGS[name] as (typeof ENCODINGS)[string];
    const bench = await toolBench();
    const path = join(bench.workspace, 'f');
    await fc.assert(
      fc.asyncProperty(fileOf(chars), fc.boolean(), async ({ lines, at, finalBreak, insert }, asPatch) => {
        const target = at % lines.length;
        const pieces = lines.map(({ text, end }, line) => {
          const last = line === lines.length - 1 && !finalBreak;
          return { text: line === target ? 'CHANGE me' : `${text} ${line} ${chars[0]}`, end: last ? '' : end };
        });
        // Without any line feed a carriage return breaks lines.
        if (!pieces.some(({ end }) => end !== '')) return;
        const join3 = (list: typeof pieces) => encode(list.map(({ text, end }) => text + end).join(''));
        const [before, after] = [join3(pieces.slice(0, target)), join3(pieces.slice(target + 1))];
        await writeFile(
          path,
          Buffer.concat([Buffer.from(mark, 'hex'), before, join3([pieces[target] as (typeof pieces)[0]]), after]),
        );
        const outcome = asPatch
          ? await bench.run(applyPatch, {
              input: ['*** Update File: f', '-CHANGE me', ...insert.map((text) => `+${text}`)].join('\n'),
            })
          : await bench.run(replaceInFile, {
              path: 'f',
              diff: ['----------- SEARCH', 'CHANGE me', '===========', ...insert, '+++++++++++ REPLACE'].join('\n'),
            });
        expect(outcome.status, outcome.text).toBe('done');
        const now = await read(path);
        const head = Buffer.concat([Buffer.from(mark, 'hex'), before]);
        expect(now.subarray(0, head.length).equals(head)).toBe(true);
        expect(now.subarray(now.length - after.length).equals(after)).toBe(true);
        const middle = now.subarray(head.length, now.length - after.length);
        const end = (pieces[target]?.end ?? '') || '';
        const breaks = [...new Set(pieces.map((piece) => piece.end).filter((one) => one !== ''))];
        const candidates = breaks.map((one) => encode(insert.join(one) + end));
        expect(
          candidates.some((bytes) => bytes.equals(middle)),
          middle.toString('hex'),
        ).toBe(true);
      }),
      { numRuns: 25 },
    );
  },
);

test('a file that holds conflict markers, blocks and patches is edited with the same', async () => {
  const bench = await toolBench();
  const path = join(bench.workspace, 'f.md');
  const text =
    '<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> topic\n------- SEARCH\nx\n=======\ny\n+++++++ REPLACE\n*** Begin Patch\n*** End Patch\n';
  await writeFile(path, text);
  const diff =
    '<<<<<<<<<< SEARCH\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> topic\n==========\nmerged\n>>>>>>>>>> REPLACE\n' +
    '--------- SEARCH\n------- SEARCH\nx\n=======\n=========\n------- SEARCH\nz\n=======\n+++++++++ REPLACE';
  expect((await bench.run(replaceInFile, { path: 'f.md', diff })).status).toBe('done');
  const merged = 'merged\n------- SEARCH\nz\n=======\ny\n+++++++ REPLACE\n*** Begin Patch\n*** End Patch\n';
  expect(await read(path, 'utf8')).toBe(merged);
  const input = '*** Update File: f.md\n@@\n *** Begin Patch\n-*** End Patch\n+*** Update File: g\n+*** End Patch';
  expect((await bench.run(applyPatch, { input })).status).toBe('done');
  expect(await read(path, 'utf8')).toBe(merged.replace('*** End', '*** Update File: g\n*** End'));
});

test('mode, owner and links: a hard link keeps its old content, a link stays one, bits are kept', async () => {
  const bench = await toolBench();
  const at = (name: string) => join(bench.workspace, name);
  await writeFile(at('f'), 'a\n');
  await link(at('f'), at('hard'));
  await symlink('f', at('soft'));
  await chmod(at('f'), 0o2754);
  const before = await stat(at('f'));
  for (const [tool, args] of [
    [replaceInFile, { path: 'soft', diff: '------- SEARCH\na\n=======\nb\n+++++++ REPLACE' }],
    [writeToFile, { path: 'soft', content: 'c\n' }],
    [applyPatch, { input: '*** Update File: soft\n-c\n+d' }],
  ] as const) {
    expect((await bench.run(tool as typeof writeToFile, args)).status).toBe('done');
    const { mode, uid, gid } = await stat(at('f'));
    expect({ mode, uid, gid }).toEqual({ mode: before.mode, uid: before.uid, gid: before.gid });
  }
  expect([await read(at('f'), 'utf8'), await read(at('soft'), 'utf8'), await read(at('hard'), 'utf8')]).toEqual([
    'd\n',
    'd\n',
    'a\n',
  ]);
  await chmod(at('f'), 0o444);
  expect((await bench.run(applyPatch, { input: '*** Update File: f\n-d\n+e' })).text).toContain('is read-only');
  expect((await bench.run(applyPatch, { input: '*** Add File: n\n+n\n*** Delete File: f' })).text).toContain(
    'is read-only',
  );
  expect(await read(at('f'), 'utf8')).toBe('d\n');
  await expect(stat(at('n'))).rejects.toThrow('ENOENT');
});

test.runIf(process.getuid?.() === 0)('a file of somebody else stays theirs', async () => {
  const bench = await toolBench();
  const { chown } = await import('node:fs/promises');
  const path = join(bench.workspace, 'f');
  await writeFile(path, 'a\n');
  await chown(path, 4711, 4712);
  await bench.run(applyPatch, { input: '*** Update File: f\n*** Move to: d/g\n-a\n+b' });
  expect(await stat(join(bench.workspace, 'd/g'))).toMatchObject({ uid: 4711, gid: 4712 });
});

test('one line of a file of 10 MB is changed, and no other byte', async () => {
  const bench = await toolBench();
  const path = join(bench.workspace, 'big');
  const lines = Array.from({ length: 140_000 }, (_, at) => `line ${at} ${'é-'.repeat(22)}${at % 3 ? '\r\n' : '\n'}`);
  const text = lines.join('');
  expect(Buffer.byteLength(text)).toBeGreaterThan(10_000_000);
  await writeFile(path, text);
  const line = (lines[70_000] ?? '').replace(/\r?\n$/, '');
  const diff = `------- SEARCH\n${line}\n=======\nchanged $&\n+++++++ REPLACE`;
  expect((await bench.run(replaceInFile, { path: 'big', diff })).status).toBe('done');
  expect((await read(path)).equals(Buffer.from(text.split(line).join('changed $&')))).toBe(true);
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile as read, readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Bench, tempFolder, toolBench } from '../../test/support/tools.js';
import { applyPatch } from './apply-patch.js';
import { listCodeDefinitionNames } from './list-code-definition-names.js';
import { listFiles } from './list-files.js';
import { readFile } from './read-file.js';
import { replaceInFile } from './replace-in-file.js';
import type { Tool } from './tool.js';
import { writeToFile } from './write-to-file.js';

const CANARY = 'canary_5d17';

/** Another process swaps a folder of the workspace, and a file in it, for links to the outside and back, without pause. */
async function racing(bench: Bench, outside: string): Promise<ChildProcess> {
  const program = `
    const { renameSync, symlinkSync, rmSync } = require('node:fs');
    const [inside, outside] = process.argv.slice(1);
    const tries = (act) => { try { act(); } catch {} };
    for (let first = true; ; first = false) {
      tries(() => renameSync(inside + '/d', inside + '/away'));
      tries(() => symlinkSync(outside, inside + '/d'));
      if (first) process.stdout.write('racing');
      for (let i = 0; i < 200; i++) tries(() => rmSync(inside + '/none', { force: true }));
      tries(() => rmSync(inside + '/d', { force: true }));
      tries(() => renameSync(inside + '/away', inside + '/d'));
      for (let i = 0; i < 200; i++) tries(() => rmSync(inside + '/none', { force: true }));
    }`;
  const child = spawn(process.execPath, ['-e', program, bench.workspace, outside], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout as NodeJS.ReadableStream, 'data');
  return child;
}

const calls: { tool: Tool; args: (round: number) => Record<string, unknown> }[] = [
  { tool: readFile, args: () => ({ path: 'd/f.ts' }) },
  { tool: listFiles, args: () => ({ path: 'd', recursive: true }) },
  { tool: listFiles, args: () => ({ path: '.', recursive: true }) },
  { tool: listCodeDefinitionNames, args: () => ({ path: 'd' }) },
  { tool: writeToFile, args: (round) => ({ path: 'd/f.ts', content: `mine ${round}\n` }) },
  { tool: writeToFile, args: (round) => ({ path: `d/new${round % 5}/deep/f`, content: `mine ${round}\n` }) },
  {
    tool: replaceInFile,
    args: (round) => ({ path: 'd/g.ts', diff: `------- SEARCH\ng\n=======\ng\n${round}\n+++++++ REPLACE` }),
  },
  {
    tool: applyPatch,
    args: (round) => ({ input: `*** Update File: d/g.ts\n g\n+${round}\n*** Add File: d/p${round}/x\n+x` }),
  },
];

// Elsewhere a folder cannot be addressed through its descriptor, and a moment remains between check and use.
test.runIf(process.platform === 'linux')(
  'a folder that is swapped for a link to the outside at any moment leads no tool there',
  {
    timeout: 60_000,
  },
  async () => {
    const bench = await toolBench();
    const outside = await tempFolder();
    await mkdir(join(bench.workspace, 'd'));
    for (const [folder, text] of [
      [join(bench.workspace, 'd'), 'class Inside {}\n'],
      [outside, `class ${CANARY} {}\n`],
    ] as const) {
      await writeFile(join(folder, 'f.ts'), text);
      await writeFile(join(folder, 'g.ts'), 'g\n');
    }
    await writeFile(join(outside, `${CANARY}.ts`), `class ${CANARY} {}\n`);
    const child = await racing(bench, outside);
    const ends = new Map<string, number>();
    for (let round = 0; round < 60; round++) {
      for (const { tool, args } of calls) {
        const outcome = await bench.run(tool, args(round));
        expect(outcome.text, tool.name).not.toContain(CANARY);
        ends.set(outcome.status, (ends.get(outcome.status) ?? 0) + 1);
      }
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await readdir(outside)).sort()).toEqual([`${CANARY}.ts`, 'f.ts', 'g.ts']);
    expect(await read(join(outside, 'f.ts'), 'utf8')).toBe(`class ${CANARY} {}\n`);
    expect(await read(join(outside, 'g.ts'), 'utf8')).toBe('g\n');
    // Both ways were met: the race was one.
    expect(ends.get('done') ?? 0).toBeGreaterThan(5);
    expect(ends.get('error') ?? 0).toBeGreaterThan(5);
  },
);

test('a file of many gigabytes that holds nothing is refused at once, also when it comes in the middle', async () => {
  const bench = await toolBench();
  const sparse = join(bench.workspace, 'sparse');
  await writeFile(sparse, '');
  await truncate(sparse, 2 ** 40);
  const began = process.memoryUsage().rss;
  const diff = '------- SEARCH\na\n=======\nb\n+++++++ REPLACE';
  for (const [tool, args] of [
    [readFile, { path: 'sparse' }],
    [replaceInFile, { path: 'sparse', diff }],
    [writeToFile, { path: 'sparse', content: 'x' }],
    [applyPatch, { input: '*** Update File: sparse\n-a\n+b' }],
    [applyPatch, { input: '*** Delete File: sparse' }],
  ] as [Tool, Record<string, unknown>][]) {
    expect((await bench.run(tool, args)).text).toContain('is larger than 20,480,000 bytes');
  }
  await writeFile(join(bench.workspace, 'f'), 'a\n');
  const journal = new Proxy(bench.journal, {
    get: (target, key) =>
      key !== 'putIntent'
        ? Reflect.get(target, key)
        : async (...given: Parameters<typeof target.putIntent>) => {
            if (given[2].includes('"end"')) return target.putIntent(...given);
            await truncate(join(bench.workspace, 'f'), 2 ** 40);
            await target.putIntent(...given);
          },
  });
  expect((await bench.run(replaceInFile, { path: 'f', diff }, { journal })).text).toContain('has changed since');
  expect(process.memoryUsage().rss - began).toBeLessThan(200 * 2 ** 20);
});

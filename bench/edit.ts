import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openJournal } from '../src/journal/open.js';
import { applyPatch } from '../src/tools/apply-patch.js';
import { replaceInFile } from '../src/tools/replace-in-file.js';
import type { RunContext, Tool } from '../src/tools/tool.js';
import { writeToFile } from '../src/tools/write-to-file.js';
import { type BenchOptions, progress } from './support/options.js';
import { check, type Report } from './support/report.js';

export const about = 'preparing and carrying out edits of files of 10 KB to 10 MB';

const LINE = `${'x'.repeat(70)}\n`;

/** A change of one line in the middle of a file, the loosest match that still fits, and the whole file anew. */
const EDITS: Record<string, (line: string, text: string) => { tool: Tool; args: Record<string, unknown> }> = {
  replace_in_file: (line) => ({ tool: replaceInFile, args: { path: 'f', diff: blockOf(line) } }),
  'replace_in_file, loosely': (line) => ({
    tool: replaceInFile,
    args: { path: 'f', diff: blockOf(`  ${line}\u00a0`) },
  }),
  apply_patch: (line) => ({ tool: applyPatch, args: { input: `*** Update File: f\n-${line}\n+changed` } }),
  write_to_file: (line, text) => ({ tool: writeToFile, args: { path: 'f', content: text.replace(line, 'changed') } }),
};

function blockOf(line: string): string {
  return `------- SEARCH\n${line}\n=======\nchanged\n+++++++ REPLACE`;
}

export async function run(options: BenchOptions): Promise<Report> {
  const rounds = options.rounds ?? (options.quick ? 1 : 7);
  const sizes = options.quick ? [10_000] : [10_000, 1_000_000, 10_000_000];
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'longhaul-bench-edit-')));
  const journal = await openJournal({ home: join(folder, 'home') });
  try {
    await journal.createTask({ task: 't', workspace: folder, model: 'none', title: 'Edits', input: '{}' });
    const rows: (string | number)[][] = [];
    for (const size of sizes) {
      const text = Array.from({ length: size / 80 }, (_, at) => `${String(at).padStart(8, '0')} ${LINE}`).join('');
      const line = `${String(Math.floor(size / 160)).padStart(8, '0')} ${LINE.trimEnd()}`;
      for (const [name, edit] of Object.entries(EDITS)) {
        const times: [prepare: number, run: number, pause: number][] = [];
        for (let round = 0; round <= rounds; round++) {
          await writeFile(join(folder, 'f'), text);
          const call = `${name}:${size}:${round}`;
          const time = await timed(
            edit(line, text),
            contextOf(folder, journal, call, await journal.claimCall('t', call)),
          );
          if (round > 0) times.push(time);
        }
        const best = (at: 0 | 1 | 2) =>
          times.map((time) => time[at]).sort((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
        rows.push([`${name}, ${size / 1000} KB`, best(0), best(1), best(2)]);
        progress(`${name}, ${size / 1000} KB: ${(best(0) + best(1)).toFixed(0)} ms`);
      }
    }
    const columns = ['', 'prepare, ms', 'run, ms', 'longest pause, ms'];
    return { aims: [], tables: [{ title: 'Edits of one file', columns, rows }], notes: NOTES };
  } finally {
    await journal.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function timed(
  { tool, args }: { tool: Tool; args: Record<string, unknown> },
  ctx: RunContext,
): Promise<[number, number, number]> {
  const lag = monitorEventLoopDelay({ resolution: 1 });
  lag.enable();
  const began = performance.now();
  const { base } = await tool.prepare(args, ctx);
  const prepared = performance.now();
  const outcome = await tool.run(args, { ...ctx, approved: base === undefined ? {} : { base } });
  const ended = performance.now();
  lag.disable();
  check(outcome.status === 'done', outcome.text);
  return [prepared - began, ended - prepared, lag.max / 1e6];
}

function contextOf(workspace: string, journal: RunContext['journal'], call: string, execution: number): RunContext {
  return {
    workspace,
    journal,
    call,
    execution,
    task: 't',
    turn: 'bench',
    signal: new AbortController().signal,
    policy: { yolo: true, approve: [] },
    approved: undefined,
    commandsDir: join(workspace, 'home/commands'),
    stopKind: () => 'detach',
    partial: () => undefined,
  };
}

const NOTES = [
  'Medians. Preparing reads the file, applies the change and makes the diff that a person is shown; running does it again on what the file is then, and writes it, synced to disk, with the journal. The pause is the longest time in which the worker did nothing else.',
];

import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { oneLine } from '../domain/text.js';
import { unifiedDiff, visibleWithin } from '../workspace/diffs.js';
import { type ChangeEnd, changeFiles, resumeChanges } from '../workspace/file-changes.js';
import { type FileContent, sha256 } from '../workspace/files.js';
import { type FilePatch, parsePatch } from '../workspace/patch.js';
import { baseOf, checkExistence, type PatchTarget, readTargets, resolvePatch } from '../workspace/patch-plan.js';
import type { FileChange } from '../workspace/staged-files.js';
import { encodeUtf8 } from '../workspace/text-file.js';
import { assertAllowed, needFor } from './access.js';
import { FINAL_CONTENT_CHARS, finalContent, PREVIEW_CHARS, RESULT_DIFF_CHARS, textOf } from './file-edit.js';
import { words } from './parameters.js';
import { proposeEdits } from './text-edit.js';
import { type PrepareContext, type Prepared, type RunContext, type Tool, ToolError, type ToolOutcome } from './tool.js';

/** Most files of one patch. */
const MAX_FILES = 200;

const schema = z.object({
  input: words(
    'The patch: "*** Begin Patch"; for each file "*** Add File: PATH" with lines that begin with "+", or "*** Delete' +
      ' File: PATH", or "*** Update File: PATH", then "*** Move to: PATH" if it is to be moved, then hunks: "@@", maybe' +
      ' with a line that comes before the place, then lines that stay (" "), go ("-") and come ("+"), and "*** End of' +
      ' File" where a hunk ends with the file; last "*** End Patch". No line numbers.',
  ),
});

export const applyPatch: Tool<typeof schema> = {
  name: 'apply_patch',
  description:
    'Changes several files at once: adds, changes, moves and deletes them, all or none. Lines that stay and go have to be' +
    ' as they are in the file, about three around each change, enough to be unique. To change one file' +
    ' replace_in_file does as well.',
  schema,
  aliases: { patch: 'input' },
  effect: 'checkable',
  prepare: async ({ input }, ctx) => preparePatch(readPatch(input), input, ctx),
  run: async ({ input }, ctx) => runPatch(readPatch(input), ctx),
};

function readPatch(input: string): FilePatch[] {
  const patches = parsePatch(input);
  if (patches.length > MAX_FILES) {
    throw new ToolError(`The patch has ${patches.length} files; ${MAX_FILES} are the most. Nothing was changed.`);
  }
  return patches;
}

/** What the patch makes of one file. */
interface Planned extends PatchTarget {
  changes: FileChange[];
  before: string | undefined;
  /** Undefined for a file that is removed. */
  after: string | undefined;
  note: string;
}

async function preparePatch(patches: FilePatch[], input: string, ctx: PrepareContext): Promise<Prepared> {
  const targets = await resolvePatch(patches, ctx.workspace);
  const prepared: Prepared = { approval: needOf(targets), summary: oneLine(`apply_patch ${namesOf(targets)}`, 120) };
  try {
    const contents = await readTargets(targets);
    const planned = await planAll(targets, contents, ctx.signal);
    const diffs = await diffsOf(planned, PREVIEW_CHARS);
    return { ...prepared, preview: visibleWithin(diffs.text, PREVIEW_CHARS), base: baseOf(targets, contents) };
  } catch (err) {
    if (!(err instanceof ToolError)) throw err;
    // Not refused yet: a call that comes before it may make it fit. Running it decides.
    const reason = `(as the files are now, this cannot be done: ${err.message})`;
    return { ...prepared, preview: visibleWithin(`${reason}\n\n${input}`, PREVIEW_CHARS) };
  }
}

function needOf(targets: readonly PatchTarget[]): Prepared['approval'] {
  const paths = pathsOf(targets);
  const outside = paths.some((path) => path.outside);
  const guarded = paths.some((path) => path.guarded);
  return needFor('edit', { outside, guarded: guarded && !outside });
}

function pathsOf(targets: readonly PatchTarget[]) {
  return targets.flatMap(({ target, moveTo }) => (moveTo ? [target, moveTo] : [target]));
}

function namesOf(targets: readonly PatchTarget[]): string {
  return targets.map(nameOf).join(', ');
}

function nameOf({ target, moveTo }: PatchTarget): string {
  return moveTo ? `${target.display} -> ${moveTo.display}` : target.display;
}

async function runPatch(patches: FilePatch[], ctx: RunContext): Promise<ToolOutcome> {
  const earlier = await resumeChanges(ctx);
  if (earlier !== undefined) return endOf(earlier, patches.map(({ path }) => path).join(', '), ctx);
  const targets = await resolvePatch(patches, ctx.workspace);
  for (const path of pathsOf(targets)) assertAllowed('edit', path, ctx);
  if (ctx.signal.aborted) return { status: 'interrupted', text: 'Stopped before anything was written.' };
  const contents = await readTargets(targets);
  if (ctx.approved?.base !== undefined && ctx.approved.base !== baseOf(targets, contents)) {
    return endOf({ end: 'changed', paths: [] }, namesOf(targets), ctx);
  }
  const stale = await staleDeletions(targets, contents, ctx);
  if (stale.length > 0) return endOf({ end: 'changed', paths: stale }, namesOf(targets), ctx);
  const planned = await planAll(targets, contents, ctx.signal);
  const changes = planned.flatMap((one) => one.changes);
  if (changes.length === 0) {
    return { status: 'done', text: 'All files already have exactly this content; there was nothing to write.' };
  }
  const end = await changeFiles(ctx, changes);
  if (end.end !== 'written') return endOf(end, namesOf(targets), ctx);
  await noteWritten(planned, contents, ctx);
  return saved(planned);
}

/** Files to be deleted that somebody has changed since the model read them; a person who approved has seen them. */
async function staleDeletions(
  targets: readonly PatchTarget[],
  contents: ReadonlyMap<string, FileContent>,
  ctx: RunContext,
): Promise<string[]> {
  if (ctx.approved?.base !== undefined) return [];
  const stale: string[] = [];
  for (const { patch, target } of targets) {
    if (patch.kind !== 'delete') continue;
    const seen = await ctx.journal.lastSeen(ctx.task, target.real);
    if (seen !== undefined && seen !== contents.get(target.real)?.sha256) stale.push(target.real);
  }
  return stale;
}

/** The model knows a file that it has made, or knew as it was before its change. */
async function noteWritten(
  planned: readonly Planned[],
  contents: ReadonlyMap<string, FileContent>,
  { journal, task }: RunContext,
): Promise<void> {
  for (const { patch, target, changes } of planned) {
    const seen = await journal.lastSeen(task, target.real);
    if (patch.kind !== 'add' && seen !== contents.get(target.real)?.sha256) continue;
    for (const { path, bytes } of changes) if (bytes) await journal.noteSeen(task, path, sha256(bytes));
  }
}

async function planAll(
  targets: readonly PatchTarget[],
  contents: ReadonlyMap<string, FileContent>,
  signal: AbortSignal,
): Promise<Planned[]> {
  const planned: Planned[] = [];
  for (const target of targets) {
    checkExistence(target);
    planned.push(await plan(target, contents.get(target.target.real), signal));
    await nextTurn();
  }
  return planned;
}

async function plan(one: PatchTarget, current: FileContent | undefined, signal: AbortSignal): Promise<Planned> {
  const { patch, target, moveTo } = one;
  const { real: path, display } = target;
  const base = current?.sha256 ?? null;
  const before = textOf(current);
  switch (patch.kind) {
    case 'add': {
      const bytes = encodeUtf8(patch.content, display);
      return { ...one, changes: [{ path, display, bytes, base }], before, after: patch.content, note: '' };
    }
    case 'delete':
      return { ...one, changes: [{ path, display, bytes: null, base }], before, after: undefined, note: '' };
    case 'update': {
      const old = { bytes: current?.bytes ?? Buffer.alloc(0), text: before ?? '', note: '' };
      const next = patch.hunks.length === 0 ? old : await proposeEdits(current, patch.hunks, display, signal);
      const { bytes, text: after, note } = next;
      if (!moveTo) {
        const changes = current && bytes.equals(current.bytes) ? [] : [{ path, display, bytes, base }];
        return { ...one, changes, before, after, note };
      }
      const changes = [
        { path: moveTo.real, display: moveTo.display, bytes, base: null, like: path },
        { path, display, bytes: null, base },
      ];
      return { ...one, changes, before, after, note };
    }
  }
}

/** @param most characters of all diffs together, about */
async function diffsOf(planned: readonly Planned[], most: number) {
  const diffs: { text: string; added: number; removed: number }[] = [];
  let left = most;
  for (const one of planned) {
    const { before, after } = one;
    const diff = unifiedDiff(one.target.display, before, after ?? '', Math.max(200, left));
    const head = after === undefined ? 'delete' : one.moveTo ? `move to ${one.moveTo.display}` : undefined;
    const text = head === undefined ? diff.text : visibleWithin(`(${head})\n${diff.text}`, Math.max(200, left));
    diffs.push({ ...diff, text });
    left -= text.length;
    await nextTurn();
  }
  const sum = (of: 'added' | 'removed') => diffs.reduce((total, diff) => total + diff[of], 0);
  const text = diffs.map((diff) => (diff.text.endsWith('\n') ? diff.text : `${diff.text}\n`)).join('');
  return { text, added: sum('added'), removed: sum('removed'), diffs };
}

async function saved(planned: readonly Planned[]): Promise<ToolOutcome> {
  const { text: diff, added, removed, diffs } = await diffsOf(planned, RESULT_DIFF_CHARS);
  const lines = planned.map((one, at) => lineOf(one, diffs[at] ?? { added: 0, removed: 0 }));
  const updated = planned.filter(({ patch, changes }) => patch.kind === 'update' && changes.length > 0);
  const chars = updated.reduce((sum, { after }) => sum + (after?.length ?? 0), 0);
  const contents =
    chars > FINAL_CONTENT_CHARS
      ? [`What changed:\n${diff}`]
      : updated.map((one) => finalContent((one.moveTo ?? one.target).display, one.after ?? '', ''));
  return {
    status: 'done',
    text: [`The patch was applied: ${added} lines added, ${removed} removed.`, ...lines, ...contents].join('\n'),
    excerpt: oneLine(`patched ${namesOf(planned)} (+${added} -${removed})`, 200),
    change: { added, removed, diff: visibleWithin(diff, RESULT_DIFF_CHARS) },
  };
}

function lineOf(one: Planned, { added, removed }: { added: number; removed: number }): string {
  const counts = `(+${added} -${removed})${one.note}`;
  switch (one.patch.kind) {
    case 'add':
      return `added ${nameOf(one)} ${counts}`;
    case 'delete':
      return `deleted ${nameOf(one)} ${counts}`;
    case 'update':
      return one.changes.length === 0
        ? `unchanged ${nameOf(one)}`
        : `${one.moveTo ? 'moved' : 'updated'} ${nameOf(one)} ${counts}`;
  }
}

/** How a patch ended of which more is not known, since an earlier execution has planned it, or nothing was written. */
function endOf(end: ChangeEnd, names: string, { workspace }: Pick<RunContext, 'workspace'>): ToolOutcome {
  const shown = (paths: string[]) => paths.map((path) => path.replace(`${workspace}/`, '')).join(', ');
  switch (end.end) {
    case 'written':
      return {
        status: 'done',
        text: `The patch was applied, to all of its files (${names}); a restart came between, and it was applied once.`,
        excerpt: oneLine(`patched ${names}`, 200),
      };
    case 'changed':
      return {
        status: 'error',
        mistake: false,
        text:
          `${end.paths.length > 0 ? shown(end.paths) : `A file of the patch (${names})`} has changed since it was approved` +
          ' or read; no file was changed. Read the files again, and send a patch that fits.',
        excerpt: oneLine('a file changed meanwhile, nothing was patched', 200),
      };
    case 'lost':
      return {
        status: 'error',
        mistake: false,
        text: `The patch of ${names} was interrupted and taken back: no file holds it. Send it again if it is still wanted.`,
        excerpt: oneLine('interrupted, nothing was patched', 200),
      };
    case 'mixed':
      return {
        status: 'error',
        mistake: false,
        slug: 'patch-interrupted',
        text:
          `The patch was interrupted, and files were changed by somebody else before it could be finished or taken back.` +
          ` These hold it, with what else was changed in them: ${shown(end.written)}. These do not: ${shown(end.not)}.` +
          ' Read all of them before going on.',
        excerpt: oneLine(`patch interrupted: ${shown(end.written)} hold it, ${shown(end.not)} do not`, 200),
      };
  }
}

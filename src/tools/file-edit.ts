import { setImmediate as nextTurn } from 'node:timers/promises';
import { oneLine } from '../domain/text.js';
import { unifiedDiff, visibleWithin } from '../workspace/diffs.js';
import { type ChangeEnd, changeFiles, resumeChanges } from '../workspace/file-changes.js';
import { type FileContent, readWholeFile, sha256 } from '../workspace/files.js';
import { pickLines } from '../workspace/line-index.js';
import { type ResolvedPath, resolveInWorkspace } from '../workspace/paths.js';
import { decodeText, describeBinary } from '../workspace/text-file.js';
import { assertAllowed, needFor } from './access.js';
import { numberLines } from './numbered.js';
import { type PrepareContext, type Prepared, type RunContext, ToolError, type ToolOutcome } from './tool.js';

/** Longest diff shown to a person before approving, and to the model after a change, in characters. */
export const PREVIEW_CHARS = 60_000;
export const RESULT_DIFF_CHARS = 20_000;
/** Files up to this many characters are given back whole after an edit. */
export const FINAL_CONTENT_CHARS = 40_000;
/** How much of a file is shown that has changed since it was approved. */
const PRESENT_CHARS = 8_000;

/** What a change makes of a file. */
export interface Proposal {
  bytes: Buffer;
  text: string;
  /** Said to the model with the result. */
  note: string;
}

/** A change of one file, before it is known what the file holds. */
export interface FileEdit {
  tool: string;
  path: string;
  /** Makes the new content. @throws ToolError when the change does not apply */
  propose(current: FileContent | undefined, display: string, signal: AbortSignal): Proposal | Promise<Proposal>;
  /** Preview when there is no proposal yet, because an earlier call of the same answer has to run first. */
  rawPreview: string;
  /** The result repeats the final content: the model knows only parts of it. */
  showFinal: boolean;
  /** A file that is there when an absent one was approved, or the other way round, is a change. */
  baseIsComplete: boolean;
}

export async function prepareEdit(edit: FileEdit, ctx: PrepareContext): Promise<Prepared> {
  const target = await resolveInWorkspace(ctx.workspace, edit.path);
  const prepared: Prepared = {
    approval: needFor('edit', target),
    summary: oneLine(`${edit.tool} ${target.display}`, 120),
  };
  try {
    const current = target.exists ? await readWholeFile(target) : undefined;
    const { text } = await edit.propose(current, target.display, ctx.signal);
    const before = textOf(current);
    // Making the content and comparing it are long each for large files; other work goes between.
    await nextTurn();
    const { text: preview } = unifiedDiff(target.display, before, text, PREVIEW_CHARS);
    return { ...prepared, preview, ...(current && { base: current.sha256 }) };
  } catch (err) {
    if (!(err instanceof ToolError)) throw err;
    // Not refused yet: a call that comes before it may make it fit. Running it decides.
    const reason = `(as ${target.display} is now, this cannot be done: ${err.message})`;
    return { ...prepared, preview: visibleWithin(`${reason}\n\n${edit.rawPreview}`, PREVIEW_CHARS) };
  }
}

export async function runEdit(edit: FileEdit, ctx: RunContext): Promise<ToolOutcome> {
  const earlier = await resumeChanges(ctx);
  const target = await resolveInWorkspace(ctx.workspace, edit.path);
  if (earlier !== undefined) return outcome(earlier.end, edit, target, ctx, undefined);
  assertAllowed('edit', target, ctx);
  if (ctx.signal.aborted) return { status: 'interrupted', text: 'Stopped before anything was written.' };
  const current = target.exists ? await readWholeFile(target) : undefined;
  const seen = await ctx.journal.lastSeen(ctx.task, target.real);
  if (isChanged(edit, ctx, current) || isStale(edit, ctx, current, seen)) {
    return outcome('changed', edit, target, ctx, undefined);
  }
  const proposal = await edit.propose(current, target.display, ctx.signal);
  await nextTurn();
  if (current && proposal.bytes.equals(current.bytes)) return unchanged(target);
  const { real: path, display } = target;
  const { end } = await changeFiles(ctx, [{ path, display, bytes: proposal.bytes, base: current?.sha256 ?? null }]);
  const before = textOf(current);
  await nextTurn();
  const written = { before, isNew: current === undefined, ...proposal };
  const isKnown = edit.baseIsComplete || seen === current?.sha256 || isShownWhole(edit, proposal.text);
  if (end === 'written' && isKnown) await ctx.journal.noteSeen(ctx.task, path, sha256(proposal.bytes));
  return outcome(end, edit, target, ctx, written);
}

function isChanged(edit: FileEdit, ctx: RunContext, current: FileContent | undefined): boolean {
  if (!ctx.approved) return false;
  if (ctx.approved.base === undefined && !edit.baseIsComplete) return false;
  return ctx.approved.base !== current?.sha256;
}

/**
 * A whole file written from what the model read before somebody else changed it would take their change away. A person
 * who has approved it has seen the difference.
 */
function isStale(edit: FileEdit, ctx: RunContext, current: FileContent | undefined, seen: string | undefined): boolean {
  if (!edit.baseIsComplete || current === undefined || seen === undefined || seen === current.sha256) return false;
  return ctx.approved?.base !== current.sha256;
}

interface Written extends Proposal {
  before: string | undefined;
  isNew: boolean;
}

/** @param written absent when an earlier execution has made the change, so that only its end is known */
async function outcome(
  end: ChangeEnd['end'],
  edit: FileEdit,
  target: ResolvedPath,
  ctx: RunContext,
  written: Written | undefined,
): Promise<ToolOutcome> {
  switch (end) {
    case 'changed':
      return {
        status: 'error',
        mistake: false,
        text: `"${target.display}" has changed since it was approved or read; nothing was written. ${await present(target, ctx)}`,
        excerpt: oneLine(`${target.display} changed meanwhile, nothing was written`, 200),
      };
    case 'lost':
    case 'mixed':
      return {
        status: 'error',
        mistake: false,
        text: `The change of "${target.display}" was interrupted and is not in the file. Send it again if it is still wanted.`,
        excerpt: oneLine(`${target.display}: interrupted, not written`, 200),
      };
    case 'written':
      return written ? saved(edit, target, written) : savedEarlier(edit, target, ctx);
  }
}

function saved(edit: FileEdit, target: ResolvedPath, written: Written): ToolOutcome {
  const { text: diff, added, removed } = unifiedDiff(target.display, written.before, written.text, RESULT_DIFF_CHARS);
  const lines = `${added} lines added, ${removed} removed`;
  const head = `"${target.display}" was ${written.isNew ? 'created' : 'saved'}: ${lines}, ${written.bytes.length} bytes.${written.note}`;
  const text = edit.showFinal ? `${head}\n${finalContent(target.display, written.text, diff)}` : head;
  const excerpt = `${written.isNew ? 'created' : 'saved'} ${target.display} (+${added} -${removed})`;
  return { status: 'done', text, excerpt: oneLine(excerpt, 200), change: { added, removed, diff } };
}

async function savedEarlier(edit: FileEdit, target: ResolvedPath, ctx: RunContext): Promise<ToolOutcome> {
  const head = `"${target.display}" was saved; a restart came between, and the change was made once.`;
  const text = edit.showFinal ? await present(target, ctx) : '';
  return { status: 'done', text: `${head} ${text}`.trim(), excerpt: oneLine(`saved ${target.display}`, 200) };
}

export function finalContent(display: string, text: string, diff: string): string {
  if (text.length > FINAL_CONTENT_CHARS) {
    return `The file is too long to repeat. What changed:\n${diff}\nFurther SEARCH blocks have to match the file as it is now.`;
  }
  return (
    `Further SEARCH blocks have to match this final content:\n` +
    `<final_file_content path="${display}">\n${text}${text.endsWith('\n') ? '' : '\n'}</final_file_content>`
  );
}

function unchanged(target: ResolvedPath): ToolOutcome {
  const text = `"${target.display}" already has exactly this content; there was nothing to write.`;
  return { status: 'done', text, excerpt: oneLine(`${target.display} unchanged`, 200) };
}

function isShownWhole(edit: FileEdit, text: string): boolean {
  return edit.showFinal && text.length <= FINAL_CONTENT_CHARS;
}

/** The file as it is now, for the model, which has seen it then; never fails. */
async function present(target: ResolvedPath, { journal, task }: RunContext): Promise<string> {
  try {
    const { bytes, sha256: now } = await readWholeFile(target);
    const decoded = decodeText(bytes);
    if (decoded === undefined) return `It is now ${describeBinary(bytes)}.`;
    const { lines, count } = pickLines(decoded.text, 1, PRESENT_CHARS);
    if (count === 0) return 'It is empty now.';
    const shown = numberLines(lines, 1, PRESENT_CHARS);
    if (!shown.cut) await journal.noteSeen(task, target.real, now);
    const more = shown.cut ? `\n(lines 1-${shown.last} of ${count}; read_file shows the rest)` : '';
    return `It now is:\n${shown.text}${more}`;
  } catch (err) {
    return err instanceof ToolError ? err.message : 'It cannot be read now.';
  }
}

/** What a diff takes a file for; undefined when it is not there. */
export function textOf(current: FileContent | undefined): string | undefined {
  if (current === undefined) return undefined;
  return decodeText(current.bytes)?.text ?? `(${describeBinary(current.bytes)}, ${current.bytes.length} bytes)\n`;
}

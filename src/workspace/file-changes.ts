import { dirname, isAbsolute, join } from 'node:path';
import { type RunContext, ToolError } from '../tools/tool.js';
import { carryOut, type FileStep, isUntouched, removeMadeFolders, stateOf, takeBack } from './file-steps.js';
import { fileProblem, sha256 } from './files.js';
import { existingFolder, PathMoved } from './held-folder.js';
import { discard, type FileChange, stage, tempName } from './staged-files.js';

export type ChangeEnd =
  /** Every file is as the change wants it, durably. */
  | { end: 'written' }
  /** Somebody has changed these files, or their folders, since they were read; nothing is changed. */
  | { end: 'changed'; paths: string[] }
  /** An earlier execution was interrupted and what it had prepared is gone; nothing is changed, and nothing is repeated. */
  | { end: 'lost' }
  /** Interrupted, and somebody has changed files since: these hold the change, the others do not. */
  | { end: 'mixed'; written: string[]; not: string[] };

/** What an execution that is about to change files leaves for the next one. */
interface Intent {
  steps: FileStep[];
  /** How it ended; absent while it can be in the middle. */
  end?: ChangeEnd;
}

type ChangeContext = Pick<RunContext, 'call' | 'execution' | 'journal'>;

/**
 * Ends what an earlier execution of the call had begun: all files get their new content, or all their old one. The hidden
 * files tell how far it came, so that nothing is lost and nothing is done twice.
 *
 * @returns undefined when no earlier execution got as far as its intent
 * @throws Superseded when a newer execution exists
 */
export async function resumeChanges(ctx: ChangeContext): Promise<ChangeEnd | undefined> {
  const stored = await ctx.journal.getIntent(ctx.call);
  if (stored === undefined) return undefined;
  const intent = readIntent(stored);
  if (intent === undefined) {
    throw new ToolError(
      'An earlier execution of this edit was begun by another version of Longhaul, so it is not known whether it was' +
        ' written. Read the file before going on.',
      false,
    );
  }
  if (intent.end) {
    discardAll(intent.steps);
    return intent.end;
  }
  return settle(ctx, intent.steps, () => goOn(intent.steps));
}

/**
 * Changes files: all of them or none, each at every moment either the old or the new one, and only if they still are
 * what `base` says. Missing folders are made. Mode and owner of a replaced file are kept. A kill at any moment leaves
 * what {@link resumeChanges} completes or takes back.
 *
 * @throws ToolError when the file system refuses; nothing has changed then
 * @throws Superseded when a newer execution exists
 */
export async function changeFiles(ctx: ChangeContext, changes: readonly FileChange[]): Promise<ChangeEnd> {
  const steps = changes.map((change, at) => stepOf(ctx, change, at, changes.length > 1));
  try {
    for (const [at, change] of changes.entries()) {
      const step = steps[at] as FileStep;
      discardEarlier(ctx, step, at);
      if (!isUntouched(step)) {
        discardAll(steps);
        return { end: 'changed', paths: [step.path] };
      }
      await staged(step, change);
    }
    await ctx.journal.putIntent(ctx.call, ctx.execution, JSON.stringify({ steps } satisfies Intent));
  } catch (err) {
    discardAll(steps);
    if (err instanceof PathMoved) return { end: 'changed', paths: [err.message] };
    throw err;
  }
  return settle(ctx, steps, () => begin(steps));
}

async function staged(step: FileStep, change: FileChange): Promise<void> {
  try {
    await stage(step.temp ?? '', change);
  } catch (err) {
    if (err instanceof PathMoved) throw err;
    throw fileProblem(err, change.display, 'written');
  }
}

function stepOf(ctx: ChangeContext, change: FileChange, at: number, several: boolean): FileStep {
  const { path, bytes, base } = change;
  const [temp, backup] = hiddenFiles(ctx.call, ctx.execution, path, at);
  return {
    path,
    temp: bytes === null ? null : temp,
    backup: base !== null && (several || bytes === null) ? backup : null,
    base,
    next: bytes === null ? null : sha256(bytes),
  };
}

function hiddenFiles(call: string, execution: number, path: string, at: number): [temp: string, backup: string] {
  return [
    join(existingFolder(path).folder, tempName(call, execution, at)),
    join(dirname(path), tempName(call, execution, at, '.old')),
  ];
}

/** Without an intent, earlier executions have left at most files that nobody will move into place. */
function discardEarlier({ call, execution }: ChangeContext, { path }: FileStep, at: number): void {
  for (let old = 1; old < execution; old++) for (const file of hiddenFiles(call, old, path, at)) discard(file);
}

function discardAll(steps: readonly FileStep[]): void {
  for (const { temp, backup } of steps) for (const file of [temp, backup]) if (file !== null) discard(file);
}

/** Runs `act` inside the journal's transaction, so that no other execution is between its checks and what it does. */
async function settle(
  ctx: ChangeContext,
  steps: FileStep[],
  act: () => ChangeEnd | { error: unknown },
): Promise<ChangeEnd> {
  const result = await ctx.journal.whileClaimed(ctx.call, ctx.execution, act);
  const end: ChangeEnd = 'error' in result ? { end: 'lost' } : result;
  // The lone step of one written file tells by itself that it is done.
  if (end.end !== 'written' || steps.some((step) => step.backup !== null)) {
    await ctx.journal.putIntent(ctx.call, ctx.execution, JSON.stringify({ steps, end } satisfies Intent));
    discardAll(steps);
  }
  if ('error' in result) throw fileProblem(result.error, steps.map(({ path }) => path).join(', '), 'written');
  return end;
}

function begin(steps: readonly FileStep[]): ChangeEnd | { error: unknown } {
  return carryOutAll(steps, steps, []);
}

function goOn(steps: readonly FileStep[]): ChangeEnd | { error: unknown } {
  const states = steps.map(stateOf);
  const done = steps.filter((_, at) => states[at] === 'done');
  if (states.includes('lost')) return takeAllBack(steps, done) ?? { end: 'lost' };
  const pending = steps.filter((_, at) => states[at] === 'pending');
  return carryOutAll(steps, pending, done);
}

function carryOutAll(
  steps: readonly FileStep[],
  pending: readonly FileStep[],
  done: FileStep[],
): ChangeEnd | { error: unknown } {
  const touched = pending.filter((step) => !isUntouched(step)).map((step) => step.path);
  if (touched.length > 0) return takeAllBack(steps, done) ?? { end: 'changed', paths: touched };
  for (const step of pending) {
    try {
      carryOut(step);
      done.push(step);
    } catch (error) {
      // Of a step that failed after its rename, such as at the sync of the folder, the file is new already.
      if (stateOf(step) === 'done') done.push(step);
      const back = takeAllBack(steps, done);
      if (back) return back;
      return error instanceof PathMoved ? { end: 'changed', paths: [step.path] } : { error };
    }
  }
  return { end: 'written' };
}

/** @returns what is left when not everything could be taken back */
function takeAllBack(steps: readonly FileStep[], done: readonly FileStep[]): ChangeEnd | undefined {
  const kept = new Set(done.toReversed().filter((step) => !takeBack(step)));
  steps.forEach(removeMadeFolders);
  if (kept.size === 0) return undefined;
  const paths = (which: boolean) => steps.filter((step) => kept.has(step) === which).map((step) => step.path);
  return { end: 'mixed', written: paths(true), not: paths(false) };
}

/**
 * Ends a change whose call will not be executed again: for the end of a task. One in the middle is taken back, and the
 * hidden files are removed; only those are touched whose names and places are right.
 *
 * @param intentJson what the journal's `getIntent` gave
 * @returns whether there was something to do; false also when the intent is of another form
 */
export function settleLeftChange(intentJson: string): boolean {
  const intent = readIntent(intentJson);
  if (intent === undefined) return false;
  const states = intent.steps.map(stateOf);
  const open = intent.end === undefined && states.some((state) => state !== 'done');
  const done = open ? intent.steps.filter((_, at) => states[at] === 'done') : [];
  if (open) takeAllBack(intent.steps, done);
  const files = intent.steps.flatMap(({ temp, backup }) => [temp, backup]);
  return files.filter((file) => file !== null && discard(file)).length + done.length > 0;
}

function readIntent(json: string): Intent | undefined {
  let parsed: Partial<Intent> | null;
  try {
    parsed = JSON.parse(json) as Partial<Intent> | null;
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed?.steps)) return undefined;
  const isPath = (path: unknown) => typeof path === 'string' && isAbsolute(path);
  const whole = parsed.steps.every(
    (step) =>
      isPath(step?.path) &&
      (step.temp === null || isPath(step.temp)) &&
      (step.backup === null || (isPath(step.backup) && dirname(step.backup) === dirname(step.path))) &&
      (step.temp === null || step.path.startsWith(join(dirname(step.temp), '/'))),
  );
  return whole ? (parsed as Intent) : undefined;
}

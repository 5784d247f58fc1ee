import { isAbsolute, resolve } from 'node:path';
import { resolveInWorkspace } from '../workspace/paths.js';
import type { Folders, Walk } from './walk.js';
import type { Argument } from './words.js';

/** Commands that may leave the shell in another folder, in ways that are not followed here. */
const MAY_MOVE = new Set(['pushd', 'popd', 'eval', 'source', '.', 'builtin', 'command', 'trap']);

/** Follows a `cd`. Where it leads cannot always be said: then no relative path is known any more. */
export async function changeFolder(walk: Walk, words: readonly Argument[]): Promise<void> {
  const [first, ...args] = words;
  const name = first?.value;
  if (name === undefined || MAY_MOVE.has(name)) {
    const looksUp = name === 'command' && /^-[vV]$/.test(args[0]?.value ?? '');
    if (!looksUp && words.length > 0) walk.folders = undefined;
    return;
  }
  if (name === 'cd') walk.folders = await target(walk, args[0]?.value === '--' ? args.slice(1) : args);
}

async function target({ folders, ctx, repeated }: Walk, args: readonly Argument[]): Promise<Folders> {
  const given = args[0]?.value;
  if (given === undefined || given === '' || args.length > 1 || given.startsWith('-')) return undefined;
  if (!isAbsolute(given) && (repeated || !folders || (ctx.env.CDPATH && !/^\.\.?(\/|$)/.test(given)))) return undefined;
  const reached = new Set<string>();
  for (const folder of isAbsolute(given) ? ['/'] : (folders ?? [])) {
    const path = resolve(folder, given);
    try {
      const { real, kind } = await resolveInWorkspace(ctx.workspace, path);
      // behind a link, `..` is one folder for the shell and another one for programs
      if (kind !== 'directory' || real !== path) return undefined;
    } catch {
      return undefined;
    }
    reached.add(path);
  }
  return [...reached];
}

import { z } from 'zod';
import { oneLine } from '../domain/text.js';
import { BLOCK_FILE } from '../workspace/blocked.js';
import { type ListedEntry, type Listing, listDirectory, MAX_ENTRIES, MAX_LIST_MS } from '../workspace/list.js';
import { blockedBelow, resolveInWorkspace } from '../workspace/paths.js';
import { visible } from '../workspace/visible.js';
import { assertAllowed } from './access.js';
import { optionalFlag, words } from './parameters.js';
import { type Tool, ToolError } from './tool.js';

const schema = z.object({
  path: words('Path of the directory, relative to the workspace or absolute; "." is the workspace.'),
  recursive: optionalFlag('Also list what is below, at any depth. Default false.'),
});

export const listFiles: Tool<typeof schema> = {
  name: 'list_files',
  description:
    'Lists a directory, at most 200 entries, directories first (with "/" at the end). Recursive listings leave out what' +
    ' .gitignore ignores and do not enter hidden directories or those of dependencies and builds.',
  schema,
  aliases: { absolutePath: 'path' },
  effect: 'pure',
  early: true,

  async prepare(args, ctx) {
    const target = await resolveInWorkspace(ctx.workspace, args.path);
    return {
      approval: { need: 'read', outside: target.outside },
      summary: oneLine(`list_files ${target.display}${args.recursive ? ' (recursive)' : ''}`, 120),
    };
  },

  async run(args, ctx) {
    const target = await resolveInWorkspace(ctx.workspace, args.path);
    assertAllowed('read', target, ctx);
    if (target.kind === 'missing') throw new ToolError(`"${target.display}" does not exist.`);
    if (target.kind === 'file') throw new ToolError(`"${target.display}" is a file, not a directory. Use read_file.`);
    const isBlocked = await blockedBelow(target, ctx.workspace);
    const listing = await listDirectory(target.real, target.display, args.recursive ?? false, ctx.signal, isBlocked);
    const lines = listing.entries.map(lineOf);
    if (lines.length === 0) lines.push('(the directory is empty)');
    return {
      status: 'done',
      text: [...lines, ...noteOf(listing)].join('\n'),
      excerpt: oneLine(`${target.display}: ${listing.entries.length} entries`, 200),
    };
  },
};

function lineOf(entry: ListedEntry): string {
  const link = entry.link === undefined ? '' : ` -> ${entry.link}`;
  const slash = entry.directory ? '/' : '';
  return (
    visible(`${entry.path}${slash}${link}`.replaceAll('\n', '\u240a')) +
    (entry.blocked ? ` (blocked by ${BLOCK_FILE})` : entry.notEntered ? ' (contents not listed)' : '')
  );
}

function noteOf({ incomplete }: Listing): string[] {
  if (incomplete === undefined) return [];
  const why =
    incomplete === 'limit'
      ? `there is more: only ${MAX_ENTRIES} entries are listed`
      : `there may be more: listing stopped after ${MAX_LIST_MS / 1000} s`;
  return ['', `(${why}; list a directory below)`];
}

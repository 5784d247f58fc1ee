import { z } from 'zod';
import { cut, oneLine } from '../domain/text.js';
import { blockedBelow, type ResolvedPath, resolveInWorkspace } from '../workspace/paths.js';
import {
  cwdOutside,
  MAX_RESULTS,
  MAX_SEARCH_MS,
  type SearchFound,
  searchFiles as search,
} from '../workspace/search.js';
import { assertAllowed } from './access.js';
import { optionalWords, words } from './parameters.js';
import { type Tool, ToolError } from './tool.js';

/** Longest result in bytes (the original's 0.25 MB). */
const MAX_BYTES = 256 * 1024;

const schema = z.object({
  path: words('Directory (or file) to search, relative to the workspace or absolute; "." is the workspace.'),
  regex: words('Regular expression, Rust syntax; look-around and back-references work too. Matched line by line.'),
  file_pattern: optionalWords('Glob for the files to search, such as "*.ts". Default: all.'),
});

export const searchFiles: Tool<typeof schema> = {
  name: 'search_files',
  description:
    'Searches file contents with a regular expression and shows each matching line with its number and one line of' +
    ' context, at most 300 results. Hidden files, binary files and what .gitignore ignores are not searched.',
  schema,
  aliases: { absolutePath: 'path' },
  effect: 'pure',
  early: true,

  async prepare(args, ctx) {
    const target = await resolveInWorkspace(ctx.workspace, args.path);
    return {
      approval: { need: 'read', outside: target.outside },
      summary: oneLine(`search_files ${target.display} ${args.regex}`, 120),
    };
  },

  async run(args, ctx) {
    const target = await resolveInWorkspace(ctx.workspace, args.path);
    assertAllowed('read', target, ctx);
    if (target.kind === 'missing') throw new ToolError(`"${target.display}" does not exist.`);
    const directory = target.kind === 'directory';
    const cwd = await baseOf(target, ctx.workspace);
    const { regex, file_pattern: filePattern } = args;
    const blocked = await blockedBelow({ real: cwd, outside: target.outside }, ctx.workspace);
    const isBlocked = (path: string) => blocked(path, false);
    const found = await search({ target: target.real, directory, cwd, regex, filePattern, isBlocked }, ctx.signal);
    return { status: 'done', text: render(found, target), excerpt: oneLine(countOf(found), 200) };
  },
};

async function baseOf(target: ResolvedPath, workspace: string): Promise<string> {
  if (target.outside) return cwdOutside(target.real, target.kind === 'directory');
  return (await resolveInWorkspace(workspace, '.')).real;
}

function countOf(found: SearchFound): string {
  return `${found.results}${found.incomplete ? ' or more' : ''} result${found.results === 1 ? '' : 's'}`;
}

function render(found: SearchFound, target: ResolvedPath): string {
  const where = target.outside && target.kind === 'directory' ? ` (paths relative to ${target.display})` : '';
  const lines = [`Found ${countOf(found)}${where}.${noteOf(found)}`];
  if (found.complaints !== '') lines.push(`Not everything could be searched: ${cut(found.complaints, 1000)}`);
  let bytes = 0;
  for (const file of found.files) {
    const block = blockOf(file);
    bytes += Buffer.byteLength(block);
    if (bytes > MAX_BYTES) {
      lines.push('', `(the result is cut at ${MAX_BYTES / 1024} KB; narrow the search)`);
      break;
    }
    lines.push('', block);
  }
  return lines.join('\n');
}

/** Matches as `12: text`, context as `12- text`; a gap is marked. */
function blockOf({ path, lines }: SearchFound['files'][number]): string {
  const shown = [path];
  lines.forEach(({ line, text, match }, at) => {
    const before = lines[at - 1];
    if (before && line > before.line + 1) shown.push('--');
    shown.push(`${line}${match ? ':' : '-'} ${text}`);
  });
  return shown.join('\n');
}

function noteOf({ incomplete }: SearchFound): string {
  if (incomplete === undefined) return '';
  return incomplete === 'limit'
    ? ` Only the first ${MAX_RESULTS} are shown; narrow the search.`
    : ` The search was stopped after ${MAX_SEARCH_MS / 1000} s; narrow it.`;
}

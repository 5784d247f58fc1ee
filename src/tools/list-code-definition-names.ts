import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { cut, oneLine } from '../domain/text.js';
import { definitionsOf, isParsed, MAX_PARSED_CHARS } from '../workspace/definitions.js';
import { readWholeFile } from '../workspace/files.js';
import { listDirectory } from '../workspace/list.js';
import { blockedBelow, type ResolvedPath, resolveInWorkspace } from '../workspace/paths.js';
import { decodeText } from '../workspace/text-file.js';
import { visible } from '../workspace/visible.js';
import { assertAllowed } from './access.js';
import { words } from './parameters.js';
import { type RunContext, type Tool, ToolError } from './tool.js';

/** Files parsed at most (the original's limit), and characters of the result and of one line. */
const MAX_FILES = 50;
const MAX_CHARS = 100 * 1024;
const MAX_LINE_CHARS = 200;

const schema = z.object({
  path: words('Path of a directory, whose own files are looked at, or of one file; "." is the workspace.'),
});

export const listCodeDefinitionNames: Tool<typeof schema> = {
  name: 'list_code_definition_names',
  description:
    'Shows the first line of every class, function, method and type in the source files of one directory (not below it),' +
    ' with line numbers. Of JavaScript, TypeScript, Python, Rust, Go, C, C++, C#, Ruby, Java, PHP, Swift and Kotlin.',
  schema,
  aliases: { absolutePath: 'path' },
  effect: 'pure',

  async prepare(args, ctx) {
    const target = await resolveInWorkspace(ctx.workspace, args.path);
    return {
      approval: { need: 'read', outside: target.outside },
      summary: oneLine(`list_code_definition_names ${target.display}`, 120),
    };
  },

  async run(args, ctx) {
    const target = await resolveInWorkspace(ctx.workspace, args.path);
    assertAllowed('read', target, ctx);
    if (target.kind === 'missing') throw new ToolError(`"${target.display}" does not exist.`);
    const { files, more } = await sourcesOf(target, ctx);
    const pieces: string[] = [];
    const notes: string[] = [];
    let [chars, count] = [0, 0];
    for (const file of files) {
      ctx.signal.throwIfAborted();
      const found = await readDefinitions(file);
      if ('problem' in found) notes.push(found.problem);
      else if (found.lines.length > 0 && chars <= MAX_CHARS) {
        count += found.lines.length;
        const piece = [file.display, ...found.lines].join('\n');
        pieces.push(cut(piece, MAX_CHARS));
        chars += piece.length;
      }
      await nextTurn();
    }
    if (chars > MAX_CHARS) notes.push(`(the result is cut at ${MAX_CHARS / 1024} KB; name single files)`);
    if (more) notes.push(`(there are more source files: only ${MAX_FILES} are looked at; name single files)`);
    if (pieces.length === 0) pieces.push('No definitions were found.');
    return {
      status: 'done',
      text: [pieces.join('\n\n'), ...notes].join('\n'),
      excerpt: oneLine(`${target.display}: ${count} definitions in ${pieces.length} files`, 200),
    };
  },
};

interface Source {
  real: string;
  display: string;
}

async function sourcesOf(target: ResolvedPath, ctx: RunContext): Promise<{ files: Source[]; more: boolean }> {
  if (target.kind === 'file') {
    if (!isParsed(target.real)) throw new ToolError(`The language of "${target.display}" is not known.`);
    return { files: [target], more: false };
  }
  const isBlocked = await blockedBelow(target, ctx.workspace);
  const listing = await listDirectory(target.real, target.display, false, ctx.signal, isBlocked);
  const sources = listing.entries.filter(
    ({ path, directory, link, blocked }) => !directory && link === undefined && !blocked && isParsed(path),
  );
  const files = sources.slice(0, MAX_FILES).map(({ path }) => ({
    real: join(target.real, path),
    display: visible(target.display === '.' ? path : `${target.display}/${path}`).replaceAll('\n', '\u240a'),
  }));
  return { files, more: sources.length > files.length || listing.incomplete !== undefined };
}

async function readDefinitions(file: Source): Promise<{ lines: string[] } | { problem: string }> {
  try {
    const { bytes } = await readWholeFile(file);
    const decoded = decodeText(bytes);
    if (decoded === undefined) return { lines: [] };
    if (decoded.text.length > MAX_PARSED_CHARS) return { problem: `(${file.display} is too large to be parsed)` };
    const definitions = await definitionsOf(basename(file.real), decoded.text);
    return {
      lines: definitions.map(
        ({ line, depth, text }) => `${line} | ${'  '.repeat(depth)}${visible(cut(text, MAX_LINE_CHARS))}`,
      ),
    };
  } catch (err) {
    if (err instanceof ToolError) return { problem: `(${err.message})` };
    return { problem: `(${file.display} could not be parsed: ${(err as Error).message})` };
  }
}

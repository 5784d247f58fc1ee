import { z } from 'zod';
import { oneLine } from '../domain/text.js';
import { readWholeFile } from '../workspace/files.js';
import { pickLines } from '../workspace/line-index.js';
import { resolveInWorkspace } from '../workspace/paths.js';
import { decodeText, describeBinary } from '../workspace/text-file.js';
import { assertAllowed } from './access.js';
import { numberLines } from './numbered.js';
import { optionalInteger, words } from './parameters.js';
import { type Tool, ToolError } from './tool.js';

/** Lines shown when no end is given, and characters shown at most (the original's limits). */
const WINDOW_LINES = 1000;
const MAX_CHARS = 400 * 1024;

const schema = z.object({
  path: words('Path of the file, relative to the workspace or absolute.'),
  start_line: optionalInteger('First line to show, from 1. Default 1.'),
  end_line: optionalInteger(`Last line to show, included. Default: ${WINDOW_LINES} lines from start_line.`),
});

export const readFile: Tool<typeof schema> = {
  name: 'read_file',
  description:
    'Shows a text file with line numbers ("12 | text"; the number and bar are not part of the file). Shows up to 1000' +
    ' lines at a time; the last line of the result says whether there is more and where to go on. Text only: images,' +
    ' documents and other binary files are refused.',
  schema,
  aliases: { absolutePath: 'path' },
  effect: 'pure',
  early: true,

  async prepare(args, ctx) {
    const target = await resolveInWorkspace(ctx.workspace, args.path);
    return {
      approval: { need: 'read', outside: target.outside },
      summary: oneLine(`read_file ${target.display}`, 120),
    };
  },

  async run(args, ctx) {
    const target = await resolveInWorkspace(ctx.workspace, args.path);
    assertAllowed('read', target, ctx);
    const { bytes, sha256 } = await readWholeFile(target);
    const decoded = decodeText(bytes);
    if (decoded === undefined) {
      throw new ToolError(`"${target.display}" is ${describeBinary(bytes)}; read_file shows text only.`);
    }
    await ctx.journal.noteSeen(ctx.task, target.real, sha256);
    const [from, to] = windowOf(args.start_line, args.end_line);
    const { lines, count } = pickLines(decoded.text, from, to);
    const notes = decoded.encoding === 'utf-8' ? '' : `; encoding ${decoded.encoding}`;
    if (count === 0) return { status: 'done', text: `(the file is empty${notes})`, excerpt: 'empty file' };
    if (from > count) throw new ToolError(`"${target.display}" has ${count} lines; there is no line ${from}.`);
    const shown = numberLines(lines, from, MAX_CHARS);
    return {
      status: 'done',
      text: `${shown.text}\n\n${footer(shown, from, lines[0]?.length ?? 0, count, notes)}`,
      excerpt: oneLine(`${target.display}: lines ${from}-${shown.last} of ${count}`, 200),
    };
  },
};

function windowOf(start: number | undefined, end: number | undefined): [number, number] {
  let from = Math.max(1, start ?? 1);
  let to = end === undefined ? from + WINDOW_LINES - 1 : Math.max(1, end);
  if (to < from) [from, to] = [to, from];
  return [from, to];
}

function footer(
  shown: { last: number; cut: boolean },
  from: number,
  firstChars: number,
  count: number,
  notes: string,
): string {
  const cutLine = shown.cut && shown.last === from ? `; line ${from} is cut, it has ${firstChars} characters` : '';
  const size = shown.cut ? `; cut at ${MAX_CHARS / 1024} KB` : '';
  if (shown.last < count) {
    return `(lines ${from}-${shown.last} of ${count}${size}${cutLine}; go on with start_line ${shown.last + 1}${notes})`;
  }
  return from === 1
    ? `(end of file, ${count} lines${cutLine}${notes})`
    : `(lines ${from}-${count} of ${count}, end of file${cutLine}${notes})`;
}

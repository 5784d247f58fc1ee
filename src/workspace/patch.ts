import { ToolError } from '../tools/tool.js';
import type { EditBlock } from './edit-blocks.js';

/** What a patch does to one file. */
export type FilePatch =
  | { kind: 'add'; path: string; content: string }
  | { kind: 'update'; path: string; moveTo?: string; hunks: EditBlock[] }
  | { kind: 'delete'; path: string };

const BEGIN = /^\*\*\*\s*Begin Patch\s*$/i;
const END = /^\*\*\*\s*End Patch\s*$/i;
const HEADER = /^\*\*\*\s*(Add|Update|Delete) File:\s*(.+?)\s*$/i;
const MOVE = /^\*\*\*\s*Move to:\s*(.+?)\s*$/i;
const END_OF_FILE = /^\*\*\*\s*End of File\s*$/i;
const SECTION = /^@@(?:\s(.*)|\s*)$/;
/** Line numbers as in a unified diff, which say nothing here. */
const RANGE = /^-\d+(?:,\d+)? \+\d+(?:,\d+)? @@\s?/;
/** Headers of a unified diff below the file's own. */
const DIFF_HEADER = /^(?:---|\+\+\+) (?:[ab]\/|\/dev\/null)|^(?:diff --git|index [0-9a-f]+\.\.)/;
const FENCE = /^\s*(?:```|~~~)/;

/**
 * Reads a patch:
 *
 *     *** Begin Patch
 *     *** Update File: src/a.ts
 *     *** Move to: src/b.ts
 *     @@ class Parser
 *      a line that stays
 *     -a line that goes
 *     +a line that comes
 *     *** End of File
 *     *** Add File: docs/new.md
 *     +its first line
 *     *** Delete File: old.txt
 *     *** End Patch
 *
 * Begin and end may be missing; code fences, a shell command with a here-document and other text around them do not
 * count, and neither do the line numbers and headers of a unified diff. An empty line in a hunk is an empty line that stays.
 *
 * @throws ToolError when there is no file in it, a line has none of the marks, or a file comes twice
 */
export function parsePatch(input: string): FilePatch[] {
  const lines = bodyOf(input);
  const files: FilePatch[] = [];
  for (let at = 0; at < lines.length; ) {
    const header = HEADER.exec(lines[at]?.text ?? '');
    if (!header) throw malformed(`line ${lines[at]?.number} is not the header of a file: ${quote(lines[at]?.text)}`);
    let end = at + 1;
    while (end < lines.length && !HEADER.test(lines[end]?.text ?? '')) end++;
    files.push(fileOf(header[1]?.toLowerCase() ?? '', header[2] ?? '', lines.slice(at + 1, end)));
    at = end;
  }
  if (files.length === 0) throw malformed('it names no file');
  checkOnce(files);
  return files;
}

interface Line {
  text: string;
  /** Of the input, from 1. */
  number: number;
}

/** The lines between the sentinels, or from the first header on. */
function bodyOf(input: string): Line[] {
  const all = input
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((text, at) => ({ text, number: at + 1 }));
  const begin = all.findIndex(({ text }) => BEGIN.test(text));
  const first = all.findIndex(({ text }) => HEADER.test(text));
  const start = begin >= 0 && (first < 0 || begin < first) ? begin + 1 : first;
  if (start < 0 || first < 0) throw malformed('it names no file');
  const stop = all.findIndex(({ text }, at) => at >= start && END.test(text));
  let body = all.slice(start, stop < 0 ? all.length : stop);
  if (stop < 0) body = withoutWrapper(body, all.slice(0, start));
  while (body.at(-1)?.text === '') body = body.slice(0, -1);
  while (body[0]?.text.trim() === '') body = body.slice(1);
  return body;
}

/** A patch without its end marker may end with the fence or here-document that it is wrapped in. */
function withoutWrapper(body: Line[], before: Line[]): Line[] {
  const word = before.map(({ text }) => /<<-?\s*(['"]?)([A-Za-z_]\w*)\1/.exec(text)?.[2]).find((found) => found);
  const fenced = before.some(({ text }) => FENCE.test(text));
  const end = body.findLastIndex(({ text }) => (fenced && FENCE.test(text)) || (word !== undefined && text === word));
  return end < 0 ? body : body.slice(0, end);
}

function fileOf(kind: string, path: string, lines: Line[]): FilePatch {
  switch (kind) {
    case 'add':
      return { kind: 'add', path, content: addedContent(path, lines) };
    case 'delete': {
      const extra = lines.find(({ text }) => text.trim() !== '');
      if (extra) throw malformed(`line ${extra.number} follows "Delete File: ${path}", which takes no lines`);
      return { kind: 'delete', path };
    }
    default:
      return updateOf(path, lines);
  }
}

/** Every line with a `+`. Where no line has one, the file was sent as it is. */
function addedContent(path: string, given: Line[]): string {
  const lines = given.filter(({ text }) => !END_OF_FILE.test(text));
  const plain = lines.every(({ text }) => !text.startsWith('+'));
  if (plain) return lines.map(({ text }) => `${text}\n`).join('');
  return lines
    .map(({ text, number }) => {
      if (text.startsWith('+')) return `${text.slice(1)}\n`;
      if (text === '') return '\n';
      throw malformed(`line ${number}, in "Add File: ${path}", does not begin with "+": ${quote(text)}`);
    })
    .join('');
}

function updateOf(path: string, lines: Line[]): FilePatch {
  const move = MOVE.exec(lines[0]?.text ?? '');
  const body = move ? lines.slice(1) : lines;
  const hunks: EditBlock[] = [];
  let anchors: string[] = [];
  let hunk: Line[] = [];
  const close = (atEnd: boolean) => {
    if (hunk.length > 0) hunks.push(hunkOf(path, hunks.length + 1, hunk, anchors, atEnd));
    if (hunk.length > 0 || atEnd) anchors = [];
    hunk = [];
  };
  let begun = false;
  for (const line of body) {
    const section = SECTION.exec(line.text);
    if (!begun && DIFF_HEADER.test(line.text)) continue;
    if (section) {
      close(false);
      const anchor = (section[1] ?? '').replace(RANGE, '').replace(/\s@@$/, '').trim();
      if (anchor !== '') anchors.push(anchor);
    } else if (END_OF_FILE.test(line.text)) close(true);
    else if (begun || line.text.trim() !== '') hunk.push(line);
    else continue;
    begun = true;
  }
  close(false);
  if (hunks.length === 0 && !move) throw malformed(`"Update File: ${path}" changes nothing`);
  return { kind: 'update', path, hunks, ...(move?.[1] !== undefined && { moveTo: move[1] }) };
}

/** Lines that stay, go and come; a line without any mark that is among marked ones stays. */
function hunkOf(path: string, number: number, given: Line[], anchors: string[], atEnd: boolean): EditBlock {
  if (!given.some(({ text }) => /^[+-]/.test(text))) {
    throw malformed(`hunk ${number} of "${path}" (line ${given[0]?.number}) has no line with "+" or "-"`);
  }
  // Blank lines at the end are often only space before the next header.
  let end = given.length;
  while (end > 0 && given[end - 1]?.text.trim() === '') end--;
  const [whole, trimmed] = [readingOf(given), readingOf(given.slice(0, end))];
  return {
    number,
    readings: trimmed.search === '' ? [trimmed] : end < given.length ? [whole, trimmed] : [whole],
    from: "the hunk's text",
    ...(anchors.length > 0 && { anchors }),
    ...(atEnd && { atEnd: true as const }),
    ...(trimmed.search === '' && { insert: true as const }),
  };
}

function readingOf(lines: Line[]): EditBlock['readings'][number] {
  const [search, replace]: [string[], string[]] = [[], []];
  for (const { text } of lines) {
    const mark = text[0];
    const rest = `${mark === '+' || mark === '-' || mark === ' ' ? text.slice(1) : text}\n`;
    if (mark !== '+') search.push(rest);
    if (mark !== '-') replace.push(rest);
  }
  return { search: search.join(''), replace: replace.join('') };
}

function checkOnce(files: FilePatch[]): void {
  const seen = new Set<string>();
  for (const { path } of files) {
    if (seen.has(path)) throw malformed(`"${path}" comes twice; put all of its changes under one header`);
    seen.add(path);
  }
}

function quote(text: string | undefined): string {
  return JSON.stringify((text ?? '').slice(0, 80));
}

function malformed(problem: string): ToolError {
  return new ToolError(
    `The patch cannot be read: ${problem}. Nothing was changed. It is a line "*** Begin Patch"; for each file` +
      ' "*** Add File: PATH" with lines that begin with "+", "*** Update File: PATH" (then maybe "*** Move to: PATH") with' +
      ' hunks of lines that begin with " ", "-" or "+", or "*** Delete File: PATH"; and "*** End Patch".',
  );
}

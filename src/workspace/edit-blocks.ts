import { ToolError } from '../tools/tool.js';

/** One way to read a block: line breaks are `\n`, and a text that is not empty ends with one. */
export interface Reading {
  search: string;
  replace: string;
}

/** A SEARCH/REPLACE block. */
export interface EditBlock {
  /** Position in the diff, from 1. */
  number: number;
  /**
   * Usually one. More when several lines of the block look like its divider; longest SEARCH first. Which one is meant
   * is decided by what the file holds.
   */
  readings: Reading[];
  /** What errors call the lines to find; SEARCH by default. */
  from?: string;
  /** Lines that come before the block, outermost first; it is looked for from the last one on, and nowhere else. */
  anchors?: string[];
  /** The block ends with the file. */
  atEnd?: true;
  /** Nothing is looked for: the new lines go behind the last anchor, or to the end of the file. */
  insert?: true;
}

const OPEN = /^(-{3,}|<{3,}) SEARCH>?\s*$/;
const DIVIDER = /^(={3,})\s*$/;
const CLOSE = /^(\+{3,}|>{3,}) REPLACE>?\s*$/;
/** Lines of one block that may look like its divider. */
const MAX_READINGS = 50;
/** A last line that is the beginning of a closing marker. */
const CUT_CLOSE = /^(\+{3,}|>{3,})( (R(E(P(L(A(C(E?)?)?)?)?)?)?)?)?$/;

/**
 * Reads the blocks of a diff:
 *
 *     ------- SEARCH
 *     text as it is in the file
 *     =======
 *     text that takes its place
 *     +++++++ REPLACE
 *
 * Markers are runs of three or more; `<<<<<<< SEARCH` and `>>>>>>> REPLACE` are read too. Where lines of the text look
 * like markers, those with a run as long as the opening one's count, so that any text can be edited with longer runs.
 * Text between blocks is ignored. A last block without its closing marker ends with the diff.
 *
 * @throws ToolError when there is no block, or one is malformed
 */
export function parseEdits(diff: string): EditBlock[] {
  const lines = diff.replaceAll('\r\n', '\n').split('\n');
  if (lines.at(-1) === '') lines.pop();
  const blocks: EditBlock[] = [];
  const marks: Marks = {
    opens: lines.map((line) => runOf(line, OPEN)),
    closes: lines.map((line) => runOf(line, CLOSE)),
  };
  for (let at = 0; at < lines.length; at++) {
    if (marks.opens[at] !== undefined) {
      const number = blocks.length + 1;
      const end = findEnd(lines, marks, at, number);
      blocks.push({ number, readings: readBlock(lines, at, end, number) });
      at = end;
    } else if (marks.closes[at] !== undefined) {
      throw malformed(`line ${at + 1} of the diff closes a block that no SEARCH marker has opened`);
    }
  }
  if (blocks.length === 0) throw malformed('the diff holds no SEARCH/REPLACE block');
  return blocks;
}

/** For each line, the length of its marker's run; undefined where it is no such marker. */
interface Marks {
  opens: (number | undefined)[];
  closes: (number | undefined)[];
}

/** Index of the closing marker, or of the end of the diff for a last block that has none. */
function findEnd(lines: string[], { opens, closes }: Marks, open: number, number: number): number {
  const run = opens[open];
  let closing: number | undefined;
  let limit = open + 1;
  for (; limit < lines.length && opens[limit] !== run; limit++) {
    if (closes[limit] === run) return limit;
    if (closes[limit] !== undefined) closing ??= limit;
  }
  if (closing !== undefined) return closing;
  if (limit < lines.length) {
    throw malformed(`block ${number} is not closed by a REPLACE marker before the next one begins`);
  }
  return CUT_CLOSE.test(lines.at(-1) ?? '') ? lines.length - 1 : lines.length;
}

function readBlock(lines: string[], open: number, end: number, number: number): Reading[] {
  const all = indexesOf(lines, DIVIDER, open + 1, end);
  const run = runOf(lines[open] ?? '', OPEN);
  const sameRun = all.filter((index) => runOf(lines[index] ?? '', DIVIDER) === run);
  const dividers = sameRun.length > 0 ? sameRun : all;
  if (dividers.length === 0) throw malformed(`block ${number} has no ======= line between SEARCH and REPLACE`);
  if (dividers.length > MAX_READINGS) {
    throw malformed(
      `block ${number} has ${dividers.length} lines that could be its divider; use longer markers for it`,
    );
  }
  return dividers.reverse().map((divider) => ({
    search: joined(lines.slice(open + 1, divider)),
    replace: joined(lines.slice(divider + 1, end)),
  }));
}

function indexesOf(lines: string[], marker: RegExp, from: number, to: number): number[] {
  const found: number[] = [];
  for (let at = from; at < to; at++) if (marker.test(lines[at] ?? '')) found.push(at);
  return found;
}

function runOf(line: string, marker: RegExp): number | undefined {
  return marker.exec(line)?.[1]?.length;
}

function joined(lines: string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function malformed(problem: string): ToolError {
  return new ToolError(
    `The diff cannot be read: ${problem}. Nothing was changed. Each block is a line "------- SEARCH", the text to` +
      ' find, a line "=======", the new text, and a line "+++++++ REPLACE".',
  );
}

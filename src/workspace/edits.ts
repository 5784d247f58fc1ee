import { ToolError } from '../tools/tool.js';
import { alike } from './alike.js';
import type { EditBlock } from './edit-blocks.js';
import { indexLines, type LineIndex } from './line-index.js';
import { LINES_AT_ONCE, MATCHINGS, spansOf } from './line-matches.js';
import { describeMiss } from './nearest.js';
import { Pace } from './pace.js';
import { type Placed, splice } from './splice.js';

export interface AppliedEdits {
  text: string;
  /** Blocks that matched only when white space at the ends of lines, or also the form of characters, was ignored. */
  loose: { number: number; ignored: 'space' | 'forms' }[];
}

/**
 * Applies all blocks or none. A block goes to the first match after the block before it: whole lines as they are; then
 * the same without the indentation of the first line; then line by line without white space at both ends; then also
 * without the difference between forms of the same character. Where there is none it is looked for from the start of the
 * file. Unmatched lines are never replaced, blocks never overlap, every line that the block repeats or that stays keeps
 * its bytes, and new lines get the line break of the lines they replace or follow.
 *
 * The time for one block grows with the length of the file only, and other work gets its turn between.
 *
 * @param original the file's text; empty for a new file
 * @throws ToolError when a block matches nothing or only what another block has taken
 */
export async function applyEdits(
  original: string,
  blocks: readonly EditBlock[],
  display: string,
  signal?: AbortSignal,
): Promise<AppliedEdits> {
  if (original === '') return { text: textOfNewFile(blocks, display), loose: [] };
  const pace = new Pace(signal);
  const index = await indexLines(original, pace);
  const placed: Placed[] = [];
  for (const block of blocks) placed.push(await place(index, block, placed, display, blocks.length, pace));
  await pace.rest();
  const loose = placed.flatMap(({ number, matching }): AppliedEdits['loose'] => {
    if (matching === 'trimmed') return [{ number, ignored: 'space' }];
    return matching === 'alike' ? [{ number, ignored: 'forms' }] : [];
  });
  return { text: splice(index, placed), loose };
}

function textOfNewFile(blocks: readonly EditBlock[], display: string): string {
  const [block, ...more] = blocks;
  const reading = block?.readings.find(({ search }) => search === '');
  if (reading === undefined) {
    throw new ToolError(
      `"${display}" is new or empty, so there is nothing that ${block?.from ?? 'SEARCH'} could match. Nothing was changed.` +
        ' Use write_to_file, or one block with an empty SEARCH.',
    );
  }
  if (more.length > 0) {
    throw new ToolError(
      `"${display}" is new or empty: only one block, with an empty SEARCH, can be applied. Nothing was changed.`,
    );
  }
  return reading.replace;
}

async function place(
  index: LineIndex,
  block: EditBlock,
  placed: Placed[],
  display: string,
  count: number,
  pace: Pace,
): Promise<Placed> {
  const after = await startOf(index, block, placed.at(-1)?.end ?? 0, display, pace);
  const anywhere = after > 0 && !block.anchors?.length ? [after, 0] : [after];
  let overlaps = false;
  for (const { from, atEnd } of [
    ...(block.atEnd ? [{ from: after, atEnd: true as const }] : []),
    ...anywhere.map((from) => ({ from, atEnd: undefined })),
  ]) {
    for (const matching of MATCHINGS) {
      for (const reading of block.readings) {
        const search = linesOf(index, reading.search);
        if (search.length === 0 && !block.insert) continue;
        for await (const span of spansOf(matching, index, search, { ...block, from, atEnd }, pace)) {
          const free = placed.every((other) => span.end <= other.start || span.start >= other.end);
          if (free)
            return { ...span, number: block.number, search, replace: linesOf(index, reading.replace), matching };
          overlaps = true;
        }
      }
    }
  }
  throw await failure(index, block, overlaps, display, count, pace);
}

/** The line from which a block is looked for: where its anchors lead, one after the other. */
async function startOf(
  index: LineIndex,
  { number, anchors = [] }: EditBlock,
  after: number,
  display: string,
  pace: Pace,
): Promise<number> {
  let line = after;
  for (const [at, anchor] of anchors.entries()) {
    const from = at === 0 ? line : line + 1;
    const found = await anchorLine(index, anchor, from, pace);
    if (found === undefined) {
      const miss = await describeMiss(index.texts, [anchor], pace, 'the text behind @@');
      throw new ToolError(
        `Hunk ${number} of "${display}": there is no line "${anchor}" (behind @@)` +
          `${from > 0 ? ' after the hunk before it' : ''}. Nothing was changed.\n${miss}`,
      );
    }
    line = found;
  }
  return line;
}

async function anchorLine(index: LineIndex, anchor: string, from: number, pace: Pace): Promise<number | undefined> {
  const wanted = anchor.trim();
  for (const fits of [
    (text: string) => text.trim() === wanted,
    (text: string) => text.trim().startsWith(wanted),
    (text: string) => alike(text).includes(alike(wanted)),
  ]) {
    for (let line = from; line < index.texts.length; line++) {
      if (line % LINES_AT_ONCE === 0 && pace.due) await pace.rest();
      if (fits(index.texts[line] ?? '')) return line;
    }
  }
  return undefined;
}

async function failure(
  index: LineIndex,
  block: EditBlock,
  overlaps: boolean,
  display: string,
  count: number,
  pace: Pace,
): Promise<ToolError> {
  const [what, from] = block.from ? ['hunk', block.from] : ['block', 'SEARCH'];
  const name = count > 1 ? `${what === 'hunk' ? 'Hunk' : 'Block'} ${block.number} of ${count}` : `The ${what}`;
  const search = block.readings[0]?.search ?? '';
  if (search === '') {
    return new ToolError(
      `${name} has an empty SEARCH, which is only for a new or empty file; "${display}" has content. Nothing was changed.`,
    );
  }
  if (overlaps) {
    return new ToolError(
      `${name} matches only text of "${display}" that an earlier ${what} already replaces. Nothing was changed. Put both` +
        ` changes into one ${what}.`,
    );
  }
  const miss = await describeMiss(index.texts, linesOf(index, search), pace, from);
  return new ToolError(`${name} does not match "${display}". Nothing was changed.\n${miss}`);
}

/** In a file with carriage returns only, those of the block are line breaks too. */
function linesOf(index: LineIndex, text: string): string[] {
  return (index.mainBreak === '\r' ? text.replaceAll('\r', '\n') : text).split('\n').slice(0, -1);
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EditBlock } from '../workspace/edit-blocks.js';
import { type AppliedEdits, applyEdits } from '../workspace/edits.js';
import type { FileContent } from '../workspace/files.js';
import { type DecodedText, decodeForEdit, encodeText } from '../workspace/text-file.js';
import type { Proposal } from './file-edit.js';

/**
 * Applies blocks to a text file as it is encoded.
 *
 * @param current absent for a file that is not there
 * @throws ToolError when one does not apply, or the file cannot be edited
 */
export async function proposeEdits(
  current: FileContent | undefined,
  blocks: readonly EditBlock[],
  display: string,
  signal: AbortSignal,
): Promise<Proposal> {
  const decoded: DecodedText = current ? decodeForEdit(current.bytes, display) : { text: '', encoding: 'utf-8' };
  const { text, loose } = await applyEdits(decoded.text, blocks, display, signal);
  await nextTurn();
  const note = noteOf(blocks, loose) + encodingNote(decoded, blocks);
  return { bytes: encodeText({ ...decoded, text }, display), text, note };
}

/** Single-byte encodings cannot be told from each other by their bytes. */
function encodingNote({ encoding }: DecodedText, blocks: readonly EditBlock[]): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is the same in all of them
  const isAscii = blocks.every(({ readings }) => readings.every(({ replace }) => /^[\x00-\x7f]*$/.test(replace)));
  if (encoding !== 'windows-1252' || isAscii) return '';
  return ' The file is not UTF-8; characters that are not ASCII were taken as Windows-1252.';
}

function noteOf(blocks: readonly EditBlock[], loose: AppliedEdits['loose']): string {
  const what = blocks[0]?.from ? 'hunk' : 'block';
  const say = (ignored: 'space' | 'forms', text: string) => {
    const numbers = loose.filter((one) => one.ignored === ignored).map(({ number }) => number);
    if (numbers.length === 0) return '';
    const which = blocks.length === 1 ? `The ${what}` : `${what === 'block' ? 'Block' : 'Hunk'} ${numbers.join(', ')}`;
    return ` ${which} matched only with ${text} ignored.`;
  };
  return (
    say('space', 'white space at the ends of lines') +
    say('forms', 'white space at the ends of lines and the form of characters (quotes, dashes, blanks, accents)')
  );
}

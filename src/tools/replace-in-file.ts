import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { type EditBlock, parseEdits } from '../workspace/edit-blocks.js';
import { applyEdits } from '../workspace/edits.js';
import { type DecodedText, decodeForEdit, encodeText } from '../workspace/text-file.js';
import { type FileEdit, prepareEdit, runEdit } from './file-edit.js';
import { words } from './parameters.js';
import type { Tool } from './tool.js';

const schema = z.object({
  path: words('Path of the file, relative to the workspace or absolute.'),
  diff: words(
    'One or more blocks, each: a line "------- SEARCH", the lines to find, a line "=======", the new lines, a line' +
      ' "+++++++ REPLACE". No new lines delete what was found. If the text itself holds such marker lines, make all three' +
      ' markers of the block longer.',
  ),
});

export const replaceInFile: Tool<typeof schema> = {
  name: 'replace_in_file',
  description:
    'Changes parts of a text file with SEARCH/REPLACE blocks. SEARCH holds whole lines exactly as they are in the file,' +
    ' just enough to be unique; each block changes the first match after the block before it, so keep blocks in the' +
    " file's order. All blocks are applied, or none. Encoding and line endings of the file are kept.",
  schema,
  aliases: { absolutePath: 'path' },
  effect: 'checkable',
  prepare: async (args, ctx) => prepareEdit(editOf(args), ctx),
  run: async (args, ctx) => runEdit(editOf(args), ctx),
};

/** @throws ToolError when the diff cannot be read: whatever the file holds, it will never run */
function editOf({ path, diff }: z.infer<typeof schema>): FileEdit {
  const blocks = parseEdits(diff);
  return {
    tool: 'replace_in_file',
    path,
    rawPreview: diff,
    showFinal: true,
    baseIsComplete: false,
    async propose(current, display, signal) {
      const decoded: DecodedText = current ? decodeForEdit(current.bytes, display) : { text: '', encoding: 'utf-8' };
      const { text, loose } = await applyEdits(decoded.text, blocks, display, signal);
      await nextTurn();
      return { bytes: encodeText({ ...decoded, text }, display), text, note: noteOf(blocks, loose) };
    },
  };
}

function noteOf(blocks: EditBlock[], loose: number[]): string {
  if (loose.length === 0) return '';
  const which = blocks.length === 1 ? 'The block' : `Block ${loose.join(', ')}`;
  return ` ${which} matched only with white space at the ends of lines ignored.`;
}

import { z } from 'zod';
import { parseEdits } from '../workspace/edit-blocks.js';
import { type FileEdit, prepareEdit, runEdit } from './file-edit.js';
import { words } from './parameters.js';
import { proposeEdits } from './text-edit.js';
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
    propose: (current, display, signal) => proposeEdits(current, blocks, display, signal),
  };
}

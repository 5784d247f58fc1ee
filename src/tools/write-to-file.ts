import { z } from 'zod';
import { decodeText, encodeUtf8 } from '../workspace/text-file.js';
import { type FileEdit, prepareEdit, runEdit } from './file-edit.js';
import { text, words } from './parameters.js';
import type { Tool } from './tool.js';

const schema = z.object({
  path: words('Path of the file, relative to the workspace or absolute. Missing directories are made.'),
  content: text('The whole content of the file, written exactly as given. May be empty.'),
});

export const writeToFile: Tool<typeof schema> = {
  name: 'write_to_file',
  description:
    'Writes a whole file: creates it, or replaces everything it holds. The content is written byte for byte as UTF-8, so' +
    ' give all of it, without code fences around it. To change parts of a file use replace_in_file.',
  schema,
  aliases: { absolutePath: 'path' },
  effect: 'checkable',
  prepare: (args, ctx) => prepareEdit(editOf(args), ctx),
  run: (args, ctx) => runEdit(editOf(args), ctx),
};

function editOf({ path, content }: z.infer<typeof schema>): FileEdit {
  return {
    tool: 'write_to_file',
    path,
    rawPreview: content,
    showFinal: false,
    baseIsComplete: true,
    propose(current, display) {
      const bytes = encodeUtf8(content, display);
      const was = current && current.bytes.length > 0 ? decodeText(current.bytes)?.encoding : undefined;
      const now = decodeText(bytes)?.encoding;
      const note =
        was && was !== now ? ` Its encoding was ${was}; it is ${now ?? 'UTF-8 with NUL characters'} now.` : '';
      return { bytes, text: content, note };
    },
  };
}

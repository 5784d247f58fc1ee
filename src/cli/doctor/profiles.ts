import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { count } from '../text.js';
import { bad, type Check, type Finding, ok } from './row.js';

export const profilesCheck: Check = {
  name: 'profiles',
  look: async ({ paths }) => (process.platform === 'win32' ? undefined : profilesFinding(paths.profiles)),
};

/** @param folder of files that hold keys */
export async function profilesFinding(folder: string): Promise<Finding> {
  const names = await readdir(folder).catch((err: NodeJS.ErrnoException) => {
    if (err.code === 'ENOENT') return [];
    throw err;
  });
  const files = names.map((name) => join(folder, name));
  const open: string[] = [];
  for (const path of [folder, ...files]) {
    const info = await stat(path).catch(() => undefined);
    if (info && (info.mode & 0o077) !== 0) open.push(path);
  }
  if (open.length === 0 && files.length === 0) return ok('none kept yet');
  if (open.length === 0) return ok(`${count(files.length, 'profile')}, readable by their owner only`);
  const folders = open.filter((path) => path === folder).map((path) => `chmod 700 '${path}'`);
  const plain = open.filter((path) => path !== folder).map((path) => `'${path}'`);
  const commands = [...folders, ...(plain.length > 0 ? [`chmod 600 ${plain.join(' ')}`] : [])];
  return bad(
    `others can read ${open.join(', ')}, where keys are kept`,
    `Run \`${commands.join(' && ')}\`, and replace the keys if others use this machine.`,
  );
}

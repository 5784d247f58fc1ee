import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the checkout. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** Written by the build when all else is there: the hash of what was built. */
export const buildStamp = join(root, 'dist', '.built');

/** Hash of everything that the build reads. */
export function inputsHash() {
  const files = ['scripts/build.mjs', 'package.json', 'tsconfig.json', 'package-lock.json', ...sources('src')];
  const hash = createHash('sha256');
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

/** Whether dist holds what the sources say. */
export function isBuilt() {
  return readOrEmpty(buildStamp) === inputsHash();
}

export function readOrEmpty(path) {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, 'utf8') : '';
}

function sources(folder) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sources(path);
    return entry.name.endsWith('.test.ts') ? [] : [path];
  });
}

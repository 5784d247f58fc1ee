import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readJson } from './files.js';

/** Root of this package: two folders above this file, in src/ as in dist/. */
export const packageRoot = fileURLToPath(new URL('../../', import.meta.url));

export function packageVersion(): string {
  const { version } = readJson(join(packageRoot, 'package.json')) as { version: string };
  return version;
}

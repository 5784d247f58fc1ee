import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readJson } from './files.js';

/** Root of this package: two folders above this file, in src/ as in dist/. */
export const packageRoot = fileURLToPath(new URL('../../', import.meta.url));

/** What tells two installations of this package apart. */
export interface PackageIdentity {
  /** As in package.json. */
  version: string;
  /** Hash of what was built, twelve hex digits. */
  build: string;
  /** Folder of the package. */
  root: string;
}

export function packageVersion(): string {
  const { version } = readJson(join(packageRoot, 'package.json')) as { version: string };
  return version;
}

/** The package that this process runs; on disk another one may have taken its place since. */
export function packageIdentity(): PackageIdentity {
  const { build } = (readJson(join(packageRoot, 'dist', 'build.json')) ?? {}) as { build?: unknown };
  return { version: packageVersion(), build: typeof build === 'string' ? build : 'unknown', root: packageRoot };
}

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packageRoot, packageVersion } from '../../service/package.js';
import { bad, type Check, type Finding, ok } from './row.js';

/** What processes of the service are started from. */
const BUILT = ['dist/cli/main.js', 'dist/service/main.js', 'dist/runner/main.js', 'dist/workflow-bundle.js'];

export const installCheck: Check = {
  name: 'Longhaul',
  look: async () => installFinding(resolve(packageRoot), packageVersion()),
};

/** @param root folder of the package */
export function installFinding(root: string, version: string): Finding {
  const missing = BUILT.filter((file) => !existsSync(join(root, file)));
  if (missing.length === 0) return ok(`${version} in ${root}`);
  return bad(
    `${version} in ${root} lacks ${missing.join(', ')}`,
    'In the repository run `npm run build`; otherwise install the package again.',
  );
}

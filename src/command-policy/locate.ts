import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { isInside } from '../workspace/paths.js';

/** Why the program that PATH gives for a name may be another one than is meant; undefined when it is not. */
export async function locate(name: string, env: NodeJS.ProcessEnv, workspace: string): Promise<string | undefined> {
  if (name === 'rg' && env.RIPGREP_CONFIG_PATH) return 'RIPGREP_CONFIG_PATH gives it options that are not seen here';
  if (env[`BASH_FUNC_${name}%%`] !== undefined) return `the environment makes ${name} a function`;
  for (const dir of (env.PATH ?? '').split(delimiter)) {
    if (!isAbsolute(dir)) return 'PATH has a folder that is not absolute';
    const real = await executable(join(dir, name));
    if (real === undefined) continue;
    const isOwn = isInside(workspace, real) || isInside(workspace, dir);
    return isOwn ? `${name} is a program in the workspace` : undefined;
  }
  return undefined;
}

async function executable(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.X_OK);
    return await realpath(path);
  } catch {
    return undefined;
  }
}

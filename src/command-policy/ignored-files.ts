import { relative, sep } from 'node:path';
import { Blocked } from '../workspace/blocked.js';
import { isInside } from '../workspace/paths.js';

/** The files of a workspace that its `.clineignore` keeps from the model. */
export interface IgnoredFiles {
  /** There is a `.clineignore`. */
  any: boolean;
  /** @param real path with all links followed */
  matches(real: string): Promise<boolean>;
}

/** @param workspace real path. @throws ToolError when the file cannot be read: what it would keep is not known then */
export async function readIgnoredFiles(workspace: string): Promise<IgnoredFiles> {
  const blocked = await Blocked.in(workspace);
  return { any: blocked.isThere, matches: (real) => matches(blocked, workspace, real) };
}

async function matches(blocked: Blocked, workspace: string, real: string): Promise<boolean> {
  if (!isInside(workspace, real) || real === workspace) return false;
  const path = relative(workspace, real).split(sep).join('/');
  // whether it is a folder is not asked: it may be missing, or become one
  return (await blocked.has(path, false)) || blocked.has(path, true);
}

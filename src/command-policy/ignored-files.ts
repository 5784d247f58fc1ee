import { readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { type IgnoreFile, isIgnored, MAX_IGNORE_BYTES, parseIgnoreFile } from '../workspace/ignore-rules.js';
import { Pace } from '../workspace/pace.js';
import { isInside } from '../workspace/paths.js';

const NAME = '.clineignore';

/** The files of a workspace that its `.clineignore` keeps from the model. */
export interface IgnoredFiles {
  /** There is a `.clineignore`. */
  any: boolean;
  /** @param real path with all links followed */
  matches(real: string): Promise<boolean>;
}

/** @param workspace real path */
export async function readIgnoredFiles(workspace: string): Promise<IgnoredFiles> {
  const text = await readRules(workspace, NAME);
  if (text === undefined) return { any: false, matches: async () => false };
  const lines = await Promise.all(text.split('\n').map((line) => withIncluded(workspace, line)));
  const files = [parseIgnoreFile('', lines.join('\n'))];
  return { any: true, matches: (real) => matches(files, workspace, real) };
}

/** `!include FILE` stands for the lines of that file. */
async function withIncluded(workspace: string, line: string): Promise<string> {
  const file = /^!include\s+(.+?)\s*$/.exec(line)?.[1];
  return file === undefined ? line : ((await readRules(workspace, file)) ?? '');
}

async function readRules(workspace: string, name: string): Promise<string | undefined> {
  try {
    return (await readFile(join(workspace, name))).subarray(0, MAX_IGNORE_BYTES).toString('utf8');
  } catch (err) {
    const { code } = err as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw err;
  }
}

async function matches(files: IgnoreFile[], workspace: string, real: string): Promise<boolean> {
  if (!isInside(workspace, real) || real === workspace) return false;
  const names = relative(workspace, real).split(sep);
  if (names.length === 1 && names[0] === NAME) return true;
  const pace = new Pace();
  for (let depth = 1; depth <= names.length; depth++) {
    const path = names.slice(0, depth).join('/');
    // whether the last one is a folder is not asked: it may be missing, or become one
    if (await isIgnored(files, path, true, pace)) return true;
    if (depth === names.length && (await isIgnored(files, path, false, pace))) return true;
  }
  return false;
}

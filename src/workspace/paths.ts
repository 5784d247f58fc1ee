import { lstat, readlink, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, parse, relative, sep } from 'node:path';
import { ToolError } from '../tools/tool.js';
import { fileProblem } from './files.js';
import { visible } from './visible.js';

/** A path as a tool got it, followed through every link to what it really names. */
export interface ResolvedPath {
  /** Absolute, without links, `.` or `..`; its last parts may not exist yet. */
  real: string;
  /** For people and the model: relative to the workspace with `/`, or absolute when it is outside. */
  display: string;
  /** `real` is neither the workspace nor below it. */
  outside: boolean;
  exists: boolean;
  kind: 'file' | 'directory' | 'missing';
}

/** Links followed in one path before it counts as a loop; Linux allows as many. */
const MAX_LINKS = 40;
/** Longest path in bytes (PATH_MAX of Linux) and longest name (NAME_MAX). */
const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;

/**
 * Resolves a path of the model. Links are followed first, also dangling ones and those of missing files' folders, and
 * only the real path is compared with the workspace. Nothing is opened or created.
 *
 * @param workspace the workspace's folder
 * @param given absolute, relative to the workspace, or starting with `~/`
 * @throws ToolError for a path that no tool may use: blank, malformed, too long, a link loop, a device, socket or pipe
 */
export async function resolveInWorkspace(workspace: string, given: string): Promise<ResolvedPath> {
  checkSpelling(given);
  const root = await rootOf(workspace);
  const expanded = expandHome(given);
  const real = await followLinks(isAbsolute(expanded) ? expanded : root + sep + expanded, given);
  checkLength(real, given);
  const outside = !isInside(root, real);
  const display = visible(outside ? real : relative(root, real).split(sep).join('/') || '.');
  const kind = await kindOf(real, display);
  return { real, display, outside, exists: kind !== 'missing', kind };
}

/** @throws ToolError when the workspace cannot be reached any more, which is nobody's mistake */
async function rootOf(workspace: string): Promise<string> {
  try {
    return await realpath(workspace);
  } catch (err) {
    const code = (err as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw new ToolError(workspaceGone(workspace), false);
    throw fileProblem(err, workspace, 'looked up');
  }
}

/** What a tool says when the folder that a task works in is not there any more. */
export function workspaceGone(workspace: string): string {
  return `The workspace folder is gone: ${visible(workspace)} does not exist any more. Nothing was done.`;
}

/** Whether `path` is `folder` or below it. Both must be real paths. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function checkSpelling(given: string): void {
  if (given.trim() === '') throw new ToolError('The path is empty. Give a path relative to the workspace.');
  if (given.includes('\0')) throw new ToolError('The path holds a NUL character, which no file name can have.');
  checkLength(given, given);
  const prefix = /^@[^/\\:]*:/.exec(given)?.[0];
  if (prefix !== undefined) {
    throw new ToolError(
      `The path starts with "${prefix}". There is one workspace and no root prefixes: give the path relative to it` +
        ` (a file that is really named so is "./${given}").`,
    );
  }
}

function checkLength(path: string, given: string): void {
  const tooLong =
    Buffer.byteLength(path) > MAX_PATH_BYTES ||
    path.split(/[\\/]/).some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES);
  if (tooLong) throw new ToolError(`The path is longer than a file system allows: ${given.slice(0, 80)}…`);
}

function expandHome(given: string): string {
  if (given === '~') return homedir();
  if (given.startsWith('~/')) return join(homedir(), given.slice(2));
  return given;
}

/** Walks the path part by part, as the kernel does; parts that do not exist are kept as they are. */
async function followLinks(path: string, given: string): Promise<string> {
  let current = parse(path).root;
  let pending = partsOf(path);
  let links = 0;
  for (let part = pending.shift(); part !== undefined; part = pending.shift()) {
    if (part === '..') {
      current = dirname(current);
      continue;
    }
    const next = join(current, part);
    const target = await linkTarget(next, given);
    if (target === undefined) {
      current = next;
      continue;
    }
    if (++links > MAX_LINKS)
      throw new ToolError(`"${given}" goes through too many symbolic links, or through a loop of them.`);
    if (isAbsolute(target)) current = parse(target).root;
    pending = [...partsOf(target), ...pending];
  }
  return current;
}

function partsOf(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep === '\\' ? /[\\/]/ : sep)
    .filter((part) => part !== '' && part !== '.');
}

async function linkTarget(path: string, given: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined;
  } catch (err) {
    const code = (err as NodeJS.ErrnoException).code;
    if (code === 'ENOENT') return undefined;
    if (code === 'ENOTDIR') throw new ToolError(`"${given}": "${dirname(path)}" is a file, not a directory.`);
    throw fileProblem(err, given, 'looked up');
  }
}

async function kindOf(real: string, display: string): Promise<ResolvedPath['kind']> {
  try {
    const stats = await lstat(real);
    if (stats.isFile()) return 'file';
    if (stats.isDirectory()) return 'directory';
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    throw fileProblem(err, display, 'looked up');
  }
  throw new ToolError(`"${display}" is a device, socket or pipe; tools work on files and directories only.`);
}

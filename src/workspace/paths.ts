import { lstat, readlink, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, normalize, parse, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ToolError } from '../tools/tool.js';
import { BLOCK_FILE, Blocked } from './blocked.js';
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
  /** Belongs to git or to Longhaul: what is written there is run or decides what runs, so that edits need approval. */
  guarded: boolean;
  /** The last part of the path as it was given is a link. */
  link: boolean;
}

/** Links followed in one path before it counts as a loop; Linux allows as many. */
const MAX_LINKS = 40;
/** Longest path in bytes (PATH_MAX of Linux) and longest name (NAME_MAX). */
const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;

/**
 * Resolves a path of the model: the only way in which tools come by a path. Links are followed first, also dangling
 * ones and those of missing files' folders, and only the real path is compared with the workspace. No file is opened or
 * created.
 *
 * @param workspace the workspace's folder
 * @param given absolute, relative to the workspace, starting with `~/`, or a `file:` URL
 * @throws ToolError for a path that no tool may use: blank, malformed, too long, a link loop, a device, socket or pipe,
 * blocked by `.clineignore`, or a new file whose name nobody would want
 */
export async function resolveInWorkspace(workspace: string, given: string): Promise<ResolvedPath> {
  const { resolved, root, written } = await locate(workspace, given);
  await checkBlocked(root, [resolved.real, written], resolved.kind === 'directory', resolved.display);
  return resolved;
}

/** Where a path leads that nothing is done with here: what `.clineignore` blocks is found as well. @throws ToolError as above */
export async function findInWorkspace(workspace: string, given: string): Promise<ResolvedPath> {
  return (await locate(workspace, given)).resolved;
}

async function locate(
  workspace: string,
  given: string,
): Promise<{ resolved: ResolvedPath; root: string; written: string }> {
  checkSpelling(given);
  const root = await rootOf(workspace);
  const expanded = expand(given);
  const absolute = isAbsolute(expanded) ? expanded : root + sep + expanded;
  const { real, link } = await followLinks(absolute, given);
  checkLength(real, given);
  const outside = !isInside(root, real);
  const below = relativeTo(root, real);
  const display = visible(outside ? real : below);
  const kind = await kindOf(real, display);
  if (kind === 'missing') checkNewName(given, expanded, real);
  const guarded = !outside && isGuarded(below);
  const resolved = { real, display, outside, exists: kind !== 'missing', kind, guarded, link };
  return { resolved, root, written: normalize(absolute) };
}

/** With `/` between the parts; `.` for the folder itself. */
function relativeTo(root: string, path: string): string {
  return relative(root, path).split(sep).join('/') || '.';
}

/** Both the path as it is written and where it leads count, in whatever case the file system takes for the same. */
async function checkBlocked(root: string, paths: string[], directory: boolean, display: string): Promise<void> {
  const blocked = await Blocked.in(root);
  for (const path of paths) {
    if (!isInside(root, path) || !(await blocked.has(relativeTo(root, path), directory))) continue;
    throw new ToolError(
      `"${display}" is blocked by the workspace's ${BLOCK_FILE}: no tool may use it. Go on without it, or ask the person.`,
    );
  }
}

/**
 * What the workspace's `.clineignore` blocks below a directory, for tools that go through one.
 *
 * @returns whether no tool may use a path relative to the directory, with `/`
 */
export async function blockedBelow(
  directory: Pick<ResolvedPath, 'real' | 'outside'>,
  workspace: string,
): Promise<(path: string, isDirectory: boolean) => Promise<boolean>> {
  if (directory.outside) return async () => false;
  const root = await rootOf(workspace);
  const blocked = await Blocked.in(root);
  const base = relativeTo(root, directory.real);
  return (path, isDirectory) => blocked.has(base === '.' ? path : `${base}/${path}`, isDirectory);
}

/** Git and Longhaul take these names in any case, and some file systems leave dots and blanks at the end out. */
function isGuarded(below: string): boolean {
  const names = below.split('/').map((name) =>
    name
      .normalize('NFKC')
      .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
      .replace(/[. ]+$/, '')
      .toLowerCase(),
  );
  return names.some((name) => name === '.git' || name === 'git~1') || names[0] === '.longhaul';
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

function expand(given: string): string {
  if (/^file:/i.test(given)) return fromUrl(given);
  if (given === '~') return homedir();
  if (given.startsWith('~/')) return join(homedir(), given.slice(2));
  return given;
}

function fromUrl(given: string): string {
  try {
    const path = fileURLToPath(given);
    if (!path.includes('\0')) return path;
  } catch {
    // Said below.
  }
  throw new ToolError(`"${given.slice(0, 80)}" is not the URL of a local file. Give a path relative to the workspace.`);
}

/** Files that are there may have any name; new ones get none that is surely a mistake. */
function checkNewName(given: string, expanded: string, real: string): void {
  const shown = JSON.stringify(given.slice(0, 80));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\x00-\x1f\x7f]/.test(real)) {
    throw new ToolError(`The path ${shown} holds a control character or line break. Give it without.`);
  }
  if (real.split(sep).some((name) => name !== name.trim())) {
    throw new ToolError(`A name in the path ${shown} begins or ends with white space, and there is no such file.`);
  }
  if (sep === '/' && expanded.includes('\\')) {
    throw new ToolError(`The path ${shown} holds backslashes, and there is no such file. Separate folders with "/".`);
  }
  if (/^~[^/]/.test(given)) {
    throw new ToolError(`The path ${shown} begins with "~", which only "~/" expands, and there is no such file.`);
  }
}

/** Walks the path part by part, as the kernel does; parts that do not exist are kept as they are. */
async function followLinks(path: string, given: string): Promise<{ real: string; link: boolean }> {
  let current = parse(path).root;
  let pending = partsOf(path);
  let links = 0;
  let link = false;
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
    link ||= pending.length === 0;
    if (isAbsolute(target)) current = parse(target).root;
    pending = [...partsOf(target), ...pending];
  }
  return { real: current, link };
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

import { constants, type Dirent } from 'node:fs';
import { open, opendir, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileProblem } from './files.js';
import { type HeldFolder, holdFolder } from './held-folder.js';
import { type IgnoreFile, isIgnored, MAX_IGNORE_BYTES, parseIgnoreFile } from './ignore-rules.js';
import { Pace } from './pace.js';
import { isTempName } from './staged-files.js';

/** Entries listed at most, and time a listing may take, in ms (the original's limits). */
export const MAX_ENTRIES = 200;
export const MAX_LIST_MS = 10_000;

/** Directories of dependencies and build results that a recursive listing names but does not enter (the original's). */
const NOT_ENTERED = new Set([
  '__pycache__',
  'bundle',
  'deps',
  'dist',
  'env',
  'node_modules',
  'out',
  'Pods',
  'temp',
  'tmp',
  'vendor',
  'venv',
]);
const NOT_ENTERED_BELOW = [
  ['build', 'dependencies'],
  ['target', 'dependency'],
];

export interface ListedEntry {
  /** Relative to the listed directory, with `/`. */
  path: string;
  directory: boolean;
  /** A directory whose contents are left out on purpose. */
  notEntered?: true;
  /** Where a symbolic link points, as it is written; links are never followed. */
  link?: string;
  /** No tool may use it. */
  blocked?: true;
}

export interface Listing {
  entries: ListedEntry[];
  /** Why there may be more than `entries`. */
  incomplete?: 'limit' | 'time';
}

/**
 * Lists a directory. Recursive listings go level by level, so that a limit cuts the deepest ones; they leave out what
 * the .gitignore files they meet ignore, and do not enter hidden directories and those of dependencies and builds.
 *
 * @param root real path of a directory
 * @param isBlocked whether no tool may use what is at a path below it; such a directory is not entered
 * @returns directories before files on each level, each followed by its own contents
 * @throws ToolError when the directory cannot be read
 */
export async function listDirectory(
  root: string,
  display: string,
  recursive: boolean,
  signal: AbortSignal,
  isBlocked: (path: string, directory: boolean) => Promise<boolean> = async () => false,
): Promise<Listing> {
  const walk: Walk = { root, display, deadline: Date.now() + MAX_LIST_MS, pace: new Pace(signal) };
  const entries: ListedEntry[] = [];
  const listing = (incomplete?: Listing['incomplete']): Listing => ({
    entries: entries.sort(byLevel),
    ...(incomplete && { incomplete }),
  });
  const queue: { path: string; ignores: IgnoreFile[] }[] = [{ path: '', ignores: [] }];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    signal.throwIfAborted();
    const ignores = recursive ? await withIgnoreFile(root, next.path, next.ignores) : [];
    for (const dirent of await readLevel(walk, next.path, ignores)) {
      if (entries.length === MAX_ENTRIES) return listing('limit');
      const path = pathOf(next.path, dirent);
      const directory = dirent.isDirectory();
      const blocked = await isBlocked(path, directory);
      const enter = recursive && directory && !blocked && !isLeftOut(path);
      const entry = await entryOf(root, path, dirent, recursive && directory && !enter);
      entries.push(blocked ? { ...entry, blocked } : entry);
      if (enter) queue.push({ path, ignores });
    }
    if (Date.now() > walk.deadline) return listing('time');
  }
  return listing();
}

interface Walk {
  root: string;
  display: string;
  /** Epoch ms. */
  deadline: number;
  pace: Pace;
}

/** The first entries of a directory that are not ignored, in order; of a huge one no more than can be listed. */
async function readLevel(walk: Walk, path: string, ignores: IgnoreFile[]): Promise<Dirent[]> {
  const found: Dirent[] = [];
  const inOrder = () =>
    found.sort((a, b) => order(a.name, a.isDirectory(), b.name, b.isDirectory())).splice(MAX_ENTRIES + 1);
  let folder: HeldFolder | undefined;
  try {
    folder = holdFolder(join(walk.root, path));
    for await (const dirent of await opendir(folder.at('.'), { bufferSize: 500 })) {
      if (Date.now() > walk.deadline) break;
      if (walk.pace.due) await walk.pace.rest();
      if (isTempName(dirent.name)) continue;
      if (await isIgnored(ignores, pathOf(path, dirent), dirent.isDirectory(), walk.pace)) continue;
      if (found.push(dirent) > 10 * MAX_ENTRIES) inOrder();
    }
  } catch (err) {
    if (walk.pace.signal?.aborted) throw err;
    if (path === '') throw fileProblem(err, walk.display, 'listed');
  } finally {
    folder?.close();
  }
  inOrder();
  return found;
}

function pathOf(parent: string, dirent: Dirent): string {
  return parent === '' ? dirent.name : `${parent}/${dirent.name}`;
}

async function withIgnoreFile(root: string, path: string, outer: IgnoreFile[]): Promise<IgnoreFile[]> {
  const text = await ignoreText(join(root, path, '.gitignore')).catch(() => undefined);
  return text === undefined ? outer : [...outer, parseIgnoreFile(path, text)];
}

/** The beginning of an ignore file, as far as it counts. */
async function ignoreText(file: string): Promise<string | undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) return undefined;
    const bytes = Buffer.alloc(MAX_IGNORE_BYTES);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    const text = bytes.toString('utf8', 0, bytesRead);
    // The last line may be cut in the middle.
    return bytesRead < bytes.length ? text : text.slice(0, text.lastIndexOf('\n') + 1);
  } finally {
    await handle.close();
  }
}

async function entryOf(root: string, path: string, dirent: Dirent, notEntered: boolean): Promise<ListedEntry> {
  const link = dirent.isSymbolicLink() ? await readlink(join(root, path)).catch(() => '?') : undefined;
  return {
    path,
    directory: dirent.isDirectory(),
    ...(notEntered && { notEntered }),
    ...(link !== undefined && { link }),
  };
}

function isLeftOut(path: string): boolean {
  const name = basename(path);
  if (name.startsWith('.') || NOT_ENTERED.has(name)) return true;
  return NOT_ENTERED_BELOW.some(
    ([parent, child]) => path === `${parent}/${child}` || path.endsWith(`/${parent}/${child}`),
  );
}

function byLevel(a: ListedEntry, b: ListedEntry): number {
  const [left, right] = [a.path.split('/'), b.path.split('/')];
  const shared = Math.min(left.length, right.length);
  for (let level = 0; level < shared; level++) {
    const leftIsDirectory = level < left.length - 1 || a.directory;
    const rightIsDirectory = level < right.length - 1 || b.directory;
    const result = order(left[level] ?? '', leftIsDirectory, right[level] ?? '', rightIsDirectory);
    if (result !== 0) return result;
  }
  return left.length - right.length;
}

function order(a: string, aIsDirectory: boolean, b: string, bIsDirectory: boolean): number {
  if (aIsDirectory !== bIsDirectory) return aIsDirectory ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

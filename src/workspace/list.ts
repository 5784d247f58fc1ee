import type { Dirent } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isTempName } from './atomic-write.js';
import { fileProblem, readWholeFile } from './files.js';
import { type IgnoreFile, isIgnored, parseIgnoreFile } from './ignore-rules.js';

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
 * @returns directories before files on each level, each followed by its own contents
 * @throws ToolError when the directory cannot be read
 */
export async function listDirectory(
  root: string,
  display: string,
  recursive: boolean,
  signal: AbortSignal,
): Promise<Listing> {
  const deadline = Date.now() + MAX_LIST_MS;
  const entries: ListedEntry[] = [];
  const listing = (incomplete?: Listing['incomplete']): Listing => ({
    entries: entries.sort(byLevel),
    ...(incomplete && { incomplete }),
  });
  const queue: { path: string; ignores: IgnoreFile[] }[] = [{ path: '', ignores: [] }];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    signal.throwIfAborted();
    const found = await readLevel(root, next.path, display);
    const ignores = recursive ? await withIgnoreFile(root, next.path, next.ignores) : [];
    for (const dirent of found) {
      if (Date.now() > deadline) return listing('time');
      const path = next.path === '' ? dirent.name : `${next.path}/${dirent.name}`;
      const directory = dirent.isDirectory();
      if (isTempName(dirent.name) || isIgnored(ignores, path, directory)) continue;
      if (entries.length === MAX_ENTRIES) return listing('limit');
      const enter = recursive && directory && !isLeftOut(path);
      entries.push(await entryOf(root, path, dirent, recursive && directory && !enter));
      if (enter) queue.push({ path, ignores });
    }
  }
  return listing();
}

async function readLevel(root: string, path: string, display: string): Promise<Dirent[]> {
  try {
    const found = await readdir(join(root, path), { withFileTypes: true });
    return found.sort((a, b) => order(a.name, a.isDirectory(), b.name, b.isDirectory()));
  } catch (err) {
    if (path === '') throw fileProblem(err, display, 'listed');
    return [];
  }
}

async function withIgnoreFile(root: string, path: string, outer: IgnoreFile[]): Promise<IgnoreFile[]> {
  const file = join(root, path, '.gitignore');
  const content = await readWholeFile({ real: file, display: file }).catch(() => undefined);
  return content === undefined ? outer : [...outer, parseIgnoreFile(path, content.bytes.toString('utf8'))];
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

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * A folder that stays the same one while it is held, whatever is done to the path that led to it: names in it are
 * addressed through its descriptor where the system offers that (Linux), elsewhere through its path, checked once more.
 */
export interface HeldFolder {
  /** A path for a name in the folder, as system calls take it. */
  at(name: string): string;
  /** Makes what happened to names of the folder durable, where the file system can. */
  sync(): void;
  close(): void;
}

/** A path leads elsewhere than when it was resolved: a link or another folder has come into it. */
export class PathMoved extends Error {
  override readonly name = 'PathMoved';
}

/** Linux gives the path of every open descriptor, and takes it as a folder. */
const DESCRIPTORS = '/proc/self/fd';
const hasDescriptors = process.platform === 'linux' && existsSync(DESCRIPTORS);

/**
 * Takes hold of a folder.
 *
 * @param real real path: no part of it is a link
 * @throws PathMoved when the path leads through a link now
 * @throws what the file system says
 */
export function holdFolder(real: string): HeldFolder {
  const descriptor = openFolder(real, real);
  try {
    checkPlace(descriptor, real);
  } catch (err) {
    closeSync(descriptor);
    throw err;
  }
  return held(descriptor, real);
}

/** Takes hold of the folder of that name in a held one, and makes it where there is none. */
export function holdBelow(folder: HeldFolder, name: string): HeldFolder {
  const path = folder.at(name);
  try {
    mkdirSync(path);
    folder.sync();
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'EEXIST') throw err;
  }
  return held(openFolder(path, name), path);
}

function openFolder(path: string, name: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (err) {
    const { code } = err as NodeJS.ErrnoException;
    throw code === 'ELOOP' || code === 'ENOTDIR' ? new PathMoved(name) : err;
  }
}

function held(descriptor: number, path: string): HeldFolder {
  return {
    at: (name) => join(hasDescriptors ? `${DESCRIPTORS}/${descriptor}` : path, name),
    sync: () => syncDescriptor(descriptor),
    close: () => closeSync(descriptor),
  };
}

/**
 * Checks that an open file or folder is what its real path names, so that no link that came into the path since it was
 * resolved has led elsewhere.
 *
 * @throws PathMoved
 */
export function checkPlace(descriptor: number, real: string): void {
  if (hasDescriptors) {
    if (sameName(readlinkSync(`${DESCRIPTORS}/${descriptor}`), real)) return;
  } else {
    const opened = fstatSync(descriptor, { bigint: true });
    const before = realpathSync(real);
    const there = lstatSync(real, { bigint: true });
    const same = opened.ino === there.ino && opened.dev === there.dev;
    if (same && sameName(before, real) && sameName(realpathSync(real), real)) return;
  }
  throw new PathMoved(real);
}

/** File systems may keep names in another case or Unicode form than they were asked for. */
function sameName(a: string, b: string): boolean {
  return a === b || fold(a) === fold(b);
}

function fold(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** The nearest folder above a path that exists, and the names that are missing below it, the path's own included. */
export function existingFolder(path: string): { folder: string; missing: string[] } {
  const missing = [basename(path)];
  let folder = dirname(path);
  while (folder !== dirname(folder) && !existsSync(folder)) {
    missing.unshift(basename(folder));
    folder = dirname(folder);
  }
  return { folder, missing };
}

function syncDescriptor(descriptor: number): void {
  try {
    fsyncSync(descriptor);
  } catch (err) {
    // Windows and some network file systems cannot sync a directory.
    const code = (err as NodeJS.ErrnoException).code ?? '';
    if (!['EINVAL', 'EPERM', 'EISDIR', 'ENOTSUP', 'EACCES'].includes(code)) throw err;
  }
}

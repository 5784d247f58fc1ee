import { constants, copyFileSync, linkSync, lstatSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { existingFolder, type HeldFolder, holdBelow, holdFolder, PathMoved } from './held-folder.js';
import { existsAt, hashAt, isMissing } from './staged-files.js';

/** One file of a change that is ready to be carried out, as the next execution finds it. */
export interface FileStep {
  path: string;
  /** Hidden file with the new content, in the nearest folder that existed; null when the file is to be removed. */
  temp: string | null;
  /** Name for the old file beside the new one until all steps are done; null where nothing could have to be taken back. */
  backup: string | null;
  /** SHA-256 of the old content; null for none. */
  base: string | null;
  /** SHA-256 of the new content; null for none. */
  next: string | null;
}

/** `lost`: not done, and what it needs is gone. */
export type StepState = 'pending' | 'done' | 'lost';

/** What an earlier execution has made of a step. */
export function stateOf(step: FileStep): StepState {
  if (step.temp === null) {
    const removed = step.backup !== null && existsAt(step.backup);
    if (!removed) return existsAt(step.path) ? 'pending' : 'done';
    return existsAt(step.path) && isSameFile(step.path, step.backup ?? '') ? 'pending' : 'done';
  }
  if (existsAt(step.temp)) return 'pending';
  const current = hashAt(step.path);
  return current === step.base && current !== step.next ? 'lost' : 'done';
}

/** Whether the file is still the one that the step was made from. */
export function isUntouched(step: FileStep): boolean {
  return hashAt(step.path) === step.base;
}

/**
 * Puts one file in place, or removes it, at once. The old file stays beside it under the name of the backup.
 *
 * @throws PathMoved when a link has come into the path, or the file is another one by now
 */
export function carryOut(step: FileStep): void {
  const { folder, missing } = existingFolder(step.path);
  const name = missing.pop() ?? '';
  let target = holdFolder(folder);
  try {
    for (const part of missing) target = swapHeld(target, holdBelow(target, part));
    if (step.temp === null) remove(target, name, step);
    else putInPlace(target, name, step.temp, step);
  } finally {
    target.close();
  }
}

function putInPlace(target: HeldFolder, name: string, temp: string, step: FileStep): void {
  if (step.backup !== null) keepOld(target, name, step.backup, step.base);
  const from = holdFolder(dirname(temp));
  try {
    renameSync(from.at(basename(temp)), target.at(name));
  } finally {
    from.close();
  }
  target.sync();
}

function swapHeld(old: HeldFolder, next: HeldFolder): HeldFolder {
  old.close();
  return next;
}

function remove(folder: HeldFolder, name: string, step: FileStep): void {
  const backup = folder.at(basename(step.backup ?? ''));
  renameSync(folder.at(name), backup);
  folder.sync();
  if (hashAt(backup) === step.base) return;
  renameSync(backup, folder.at(name));
  throw new PathMoved(step.path);
}

function keepOld(folder: HeldFolder, name: string, backup: string, base: string | null): void {
  const path = folder.at(basename(backup));
  if (existsAt(path)) unlinkSync(path);
  linkOrCopy(folder.at(name), path);
  folder.sync();
  if (hashAt(path) !== base) throw new PathMoved(backup);
}

/** Not every file system has hard links, and not every file may be linked to. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') throw err;
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}

/**
 * Takes a step back that was carried out.
 *
 * @returns false when somebody has changed the file since, or its old content is gone: it stays as it is
 */
export function takeBack(step: FileStep): boolean {
  let folder: HeldFolder | undefined;
  try {
    if (hashAt(step.path) !== step.next) return false;
    folder = holdFolder(dirname(step.path));
    const path = folder.at(basename(step.path));
    if (step.base === null) unlinkSync(path);
    else if (step.backup === null) return false;
    else if (step.next === null) putBack(folder, path, step.backup);
    else renameSync(folder.at(basename(step.backup)), path);
    folder.sync();
  } catch {
    return false;
  } finally {
    folder?.close();
  }
  return true;
}

/** Removes the folders that were made for a new file which is not there after all. */
export function removeMadeFolders({ path, temp, base }: FileStep): void {
  if (base === null && temp !== null) removeEmpty(dirname(path), dirname(temp));
}

/** Only where no file has come meanwhile, which a rename would take away. */
function putBack(folder: HeldFolder, path: string, backup: string): void {
  linkOrCopy(folder.at(basename(backup)), path);
  unlinkSync(folder.at(basename(backup)));
}

function removeEmpty(folder: string, top: string): void {
  for (let at = folder; at !== top && at !== dirname(at) && at.startsWith(join(top, '')); at = dirname(at)) {
    try {
      rmdirSync(at);
    } catch (err) {
      if (!isMissing(err)) return;
    }
  }
}

function isSameFile(a: string, b: string): boolean {
  const [left, right] = [lstatSync(a, { bigint: true }), lstatSync(b, { bigint: true })];
  return left.ino === right.ino && left.dev === right.dev;
}

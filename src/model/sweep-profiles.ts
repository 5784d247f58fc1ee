import { statSync, unlinkSync } from 'node:fs';
import type { Journal } from '../journal/journal.js';
import { profileFile, profileNames } from './named-profiles.js';
import { isHashed } from './profiles.js';

/** How long the settings of a shell are kept after the last task that used them has ended, ms. */
export const KEEP_PROFILES_MS = 30 * 24 * 3600 * 1000;

/**
 * Removes the settings of shells (`p-…`) that no task has used for long. Named profiles stay until they are removed.
 * @returns the names removed
 */
export async function sweepProfiles(options: {
  home: string;
  journal: Pick<Journal, 'usedProfiles'>;
  /** ms since the epoch */
  now?: number;
}): Promise<string[]> {
  const { home, journal, now = Date.now() } = options;
  const oldest = now - KEEP_PROFILES_MS;
  const hashed = (await profileNames(home)).filter(isHashed);
  if (hashed.length === 0) return [];
  const used = await journal.usedProfiles(oldest);
  return hashed.filter((name) => !used.has(name) && removeOlder(profileFile(home, name), oldest));
}

/** A task that is just being started has stored its profile anew. Nothing comes between the look and the removal. */
function removeOlder(file: string, oldest: number): boolean {
  try {
    if (statSync(file).mtimeMs > oldest) return false;
    unlinkSync(file);
    return true;
  } catch {
    return false;
  }
}

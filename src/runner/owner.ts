import { readFileSync } from 'node:fs';
import { createWhole, files, newestNumber } from './layout.js';

/** Owner of a command that no run may attach to any more: it is being ended. */
export const NOBODY = '';

/** The workflow run that a command belongs to, with the number of its entry; number 0 when none was written. */
export interface Owner {
  number: number;
  run: string | undefined;
}

export function readOwner(dir: string): Owner {
  const number = newestNumber(dir, 'owner');
  return { number, run: number === 0 ? undefined : readFileSync(files.owner(dir, number), 'utf8') };
}

/** Says that `run` follows the command, unless that is said already. Entries are never changed, only followed by others. */
export function takeOver(dir: string, run: string): void {
  for (;;) {
    const owner = readOwner(dir);
    if (owner.run === run || createWhole(files.owner(dir, owner.number + 1), run)) return;
  }
}

/** Takes the command from the owner that was seen; false when another run has attached since. */
export function disown(dir: string, seen: Owner): boolean {
  return createWhole(files.owner(dir, seen.number + 1), NOBODY);
}

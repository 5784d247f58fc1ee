import { basename, isAbsolute, join, relative } from 'node:path';
import type { LonghaulError } from '../domain/errors.js';
import { packageRoot } from '../service/package.js';

/** As what the command is installed: by `npm link`, `npm install --global`. */
export const INSTALLED = 'longhaul';

/**
 * How to call this command line again, for hints: `longhaul` when it was called by that name, else `node` and the path of
 * its script.
 *
 * @param script `process.argv[1]`
 * @param here folder in which people will type it
 */
export function calledAs(script: string | undefined, here: string): string {
  const name = script === undefined ? '' : basename(script);
  if (name === INSTALLED) return INSTALLED;
  const file = script !== undefined && name === 'longhaul.js' ? script : join(packageRoot, 'bin', 'longhaul.js');
  return `node ${quoted(pathFrom(here, file))}`;
}

/** How to call this command line from any folder, such as in a start-up file of a shell. */
export function calledFromAnywhere(command: string): string {
  return command === INSTALLED ? INSTALLED : `node ${quoted(join(packageRoot, 'bin', 'longhaul.js'))}`;
}

/** A path that can be opened from `here`: relative or absolute, whichever is shorter. */
export function pathFrom(here: string, path: string): string {
  const near = relative(here, path);
  return isAbsolute(near) || near.length > path.length ? path : near;
}

/** Puts how this command is called where a text says `` `longhaul … ``. */
export function withCommand(text: string, command: string): string {
  return text.replaceAll(`\`${INSTALLED} `, () => `\`${command} `);
}

/** What an error says to do next, with commands as they are called here. */
export function nextOf(err: LonghaulError, command: string): string | undefined {
  return err.next === undefined ? undefined : withCommand(err.next, command);
}

/** A word for a shell. */
export function quoted(word: string): string {
  return /^[\w./\\:@%+,=~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

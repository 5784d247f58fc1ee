import { opendir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { matchesGlob, parseGlob } from '../workspace/glob.js';
import { findInWorkspace } from '../workspace/paths.js';
import type { IgnoredFiles } from './ignored-files.js';
import type { Argument } from './words.js';

/** Names of files looked at for one pattern, at most. */
const MAX_NAMES = 2_000;

/** Devices that hold nothing and change nothing. */
const HARMLESS_DEVICES: readonly string[] = ['/dev/null', '/dev/stdin', '/dev/zero'];

/** What is known of the files that an argument may name. */
export interface Place {
  /** Really outside of the workspace, links followed. */
  outside?: string;
  /** Matched by `.clineignore`, as people know it. */
  ignored?: string;
  /** Why it is not known. */
  unknown?: string;
  /** A link is on the way, so that `..` after it leads elsewhere for a shell than for a program. */
  real: readonly string[];
}

/**
 * Where an argument leads, were it the name of a file.
 * @param folders where the command may run: real paths; undefined when that is not known
 */
export async function placeOf(
  arg: Argument,
  folders: readonly string[] | undefined,
  workspace: string,
  ignored: IgnoredFiles,
): Promise<Place> {
  if (arg.value !== undefined && HARMLESS_DEVICES.includes(arg.value)) return { real: [arg.value] };
  const place: { real: string[] } & Place = { real: [] };
  if (arg.stands === 'process' || arg.stands === 'found') return { real: [] };
  if (arg.stands === 'anything') return { real: [], outside: arg.text };
  const spelled = arg.value ?? arg.pattern;
  if (spelled === undefined) return { real: [], unknown: `${arg.text} is known only when it runs` };
  if (folders === undefined && !isAbsolute(spelled))
    return { real: [], unknown: 'it is not known in which folder it runs' };
  for (const folder of isAbsolute(spelled) ? ['/'] : (folders ?? [])) {
    const names = arg.value === undefined ? await expand(spelled, folder) : [join0(folder, spelled)];
    if (names === undefined) return { real: [], unknown: `${arg.text} matches too many names` };
    for (const name of names) {
      if (arg.value === undefined && arg.prefix === '' && name.slice(folder.length + 1).startsWith('-')) {
        place.unknown ??= `${arg.text} matches a name that would be an option`;
      }
      try {
        const { real, outside, display } = await findInWorkspace(workspace, name);
        place.real.push(real);
        if (outside) place.outside ??= display;
        else if (await ignored.matches(real)) place.ignored ??= display;
      } catch {
        place.unknown ??= `${arg.text} is no file or folder`;
      }
    }
  }
  return place;
}

/** Not `path.join`: `..` after a link has to stay as it is. */
function join0(folder: string, name: string): string {
  return isAbsolute(name) ? name : `${folder}/${name}`;
}

/** The files that match a pattern, and the pattern itself, which is what stands there when none does. */
async function expand(pattern: string, folder: string): Promise<string[] | undefined> {
  const parts = pattern.split('/');
  let found = [isAbsolute(pattern) ? '/' : folder];
  let seen = 0;
  for (const part of parts.filter((one) => one !== '')) {
    if (!/[*?]/.test(part.replace(/\\./g, ''))) {
      const name = part.replace(/\\(.)/g, '$1');
      found = found.map((one) => `${one}/${name}`);
      continue;
    }
    const glob = parseGlob(part);
    const next: string[] = [];
    for (const one of found) {
      for (const name of await namesIn(one)) {
        if (++seen > MAX_NAMES) return undefined;
        if (!glob || matchesGlob(glob, name)) next.push(join(one, name));
      }
    }
    found = next;
  }
  return [...found, join0(folder, pattern.replace(/\\(.)/g, '$1'))];
}

async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      names.push(entry.name);
      if (names.length > MAX_NAMES) break;
    }
  } catch {
    // what cannot be listed has no names that a shell would find
  }
  return names;
}

import { lstat, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { ToolError } from '../tools/tool.js';
import { readGivenFile } from './given-file.js';
import { type IgnoreFile, isIgnored, MAX_IGNORE_BYTES, parseIgnoreFile } from './ignore-rules.js';
import { Pace } from './pace.js';

/** The workspace's list of what no tool may use, in the form of .gitignore. */
export const BLOCK_FILE = '.clineignore';

/** A line that stands for the lines of another file. */
const INCLUDE = /^!include\s+(\S.*?)\s*$/;

/** What the workspace's `.clineignore` keeps from the tools. */
export class Blocked {
  private readonly pace = new Pace();

  private constructor(
    private readonly files: IgnoreFile[],
    private readonly ignoreCase: boolean,
  ) {}

  /**
   * Reads the file as it is now.
   *
   * @param root real path of the workspace
   * @throws ToolError when it is there and cannot be read: what it would block is not known then
   */
  static async in(root: string): Promise<Blocked> {
    const text = await ruleText(root, BLOCK_FILE);
    if (text === undefined) return new Blocked([], false);
    const lines: string[] = [];
    for (const line of text.split('\n')) {
      const included = INCLUDE.exec(line)?.[1];
      lines.push(included === undefined ? line : ((await ruleText(root, included)) ?? ''));
    }
    return Blocked.by(lines.join('\n'), await isCaseInsensitive(root));
  }

  /** @param ignoreCase the file system takes names in any case for the same */
  static by(text: string, ignoreCase: boolean): Blocked {
    return new Blocked([parseIgnoreFile('', folded(text, ignoreCase))], ignoreCase);
  }

  /** Whether there is such a file. */
  get isThere(): boolean {
    return this.files.length > 0;
  }

  /**
   * Whether tools may not use a path: it, or a folder above it, is listed.
   *
   * @param path relative to the workspace, with `/`; `.` is the workspace
   */
  async has(path: string, directory: boolean): Promise<boolean> {
    const names = folded(path, this.ignoreCase).split('/');
    if (names[0]?.toLowerCase() === BLOCK_FILE) return true;
    if (this.files.length === 0 || path === '.') return false;
    for (let end = 1; end <= names.length; end++) {
      const isDirectory = end < names.length || directory;
      if (await isIgnored(this.files, names.slice(0, end).join('/'), isDirectory, this.pace)) return true;
    }
    return false;
  }
}

/** The same name in every way in which a file system may spell it. */
function folded(text: string, ignoreCase: boolean): string {
  const composed = text.normalize('NFC');
  return ignoreCase ? composed.toLowerCase() : composed;
}

async function ruleText(root: string, name: string): Promise<string | undefined> {
  const real = await realpath(join(root, name)).catch((err: NodeJS.ErrnoException) => {
    if (err.code === 'ENOENT' || err.code === 'ENOTDIR') return undefined;
    throw unreadable(name, `cannot be read (${err.code})`);
  });
  if (real === undefined) {
    if (name === BLOCK_FILE && (await isDangling(join(root, name)))) throw unreadable(name, 'is a link to nothing');
    return undefined;
  }
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) {
    throw unreadable(name, 'leads out of the workspace');
  }
  const read = await readGivenFile(real, MAX_IGNORE_BYTES);
  if ('problem' in read) throw unreadable(name, read.problem);
  return read.bytes.toString('utf8');
}

async function isDangling(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

function unreadable(name: string, problem: string): ToolError {
  return new ToolError(
    `Which files are blocked is not known: ${name} ${problem}. Nothing was done. A person has to correct or remove it.`,
    false,
  );
}

/** Whether a folder that has a block file takes names in any case for the same. */
function isCaseInsensitive(folder: string): Promise<boolean> {
  return isSame(join(folder, BLOCK_FILE), join(folder, BLOCK_FILE.toUpperCase()));
}

async function isSame(a: string, b: string): Promise<boolean> {
  try {
    const [left, right] = [await lstat(a, { bigint: true }), await lstat(b, { bigint: true })];
    return left.ino === right.ino && left.dev === right.dev;
  } catch {
    return false;
  }
}

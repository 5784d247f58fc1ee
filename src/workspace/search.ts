import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { messageOf } from '../domain/errors.js';
import { ToolError } from '../tools/tool.js';
import { BLOCK_FILE } from './blocked.js';
import { fileProblem } from './files.js';
import { holdFolder, PathMoved } from './held-folder.js';
import { readMatches, type SearchEvent } from './search-events.js';
import { TEMP_GLOB } from './staged-files.js';

/** Most results of one search (the original's limit), and the time one may take, in ms. */
export const MAX_RESULTS = 300;
export const MAX_SEARCH_MS = 30_000;

const MAX_STDERR_CHARS = 4000;

export interface SearchLine {
  /** From 1. */
  line: number;
  text: string;
  match: boolean;
}

export interface SearchFound {
  /** Files in the order of their paths, relative to `cwd`. */
  files: { path: string; lines: SearchLine[] }[];
  results: number;
  /** Why there may be more results. */
  incomplete?: 'limit' | 'time';
  /** What ripgrep could not read. */
  complaints: string;
}

export interface Search {
  /** Real path of a file or directory. */
  target: string;
  directory: boolean;
  /** Real path that results are relative to: the workspace, or, outside of it, the target's directory. */
  cwd: string;
  regex: string;
  /** Glob; with a `/` in it, relative to the target. */
  filePattern?: string | undefined;
  /** Whether no tool may use a file, by its path relative to `cwd`. */
  isBlocked?: (path: string) => Promise<boolean>;
}

/**
 * Searches with ripgrep: Rust regular expressions, or PCRE2 where a pattern needs it, with one line of context. Hidden
 * and binary files, and what .gitignore files from `cwd` downwards ignore, are left out; links are not followed.
 *
 * @throws ToolError when the search itself fails, such as for a regular expression that is none, or the target is
 * replaced by a link to elsewhere meanwhile
 */
export async function searchFiles(search: Search, signal: AbortSignal): Promise<SearchFound> {
  for (const text of [search.regex, search.filePattern ?? '']) {
    if (text.includes('\0')) throw new ToolError('A pattern holds a NUL character, which cannot be searched for.');
  }
  signal.throwIfAborted();
  checkStillThere(search);
  const child = spawn(await ripgrep(), ripgrepArguments(search), {
    cwd: search.cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  const end = endOf(child);
  const timeout = new AbortController();
  const timer = setTimeout(() => {
    timeout.abort();
    child.kill('SIGKILL');
  }, MAX_SEARCH_MS);
  try {
    const found = await collect(child, search.isBlocked);
    if (found.incomplete) child.kill('SIGKILL');
    const { code, stderr } = await end;
    signal.throwIfAborted();
    checkStillThere(search);
    if (timeout.signal.aborted) return { ...found, incomplete: 'time' };
    // Exit code 2 with results: some files could not be read.
    if (code === 2 && found.results === 0) throw searchFailed(stderr);
    return { ...found, complaints: stderr };
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}

// Imported late: the module throws on platforms for which it has no binary, and then only searching should fail.
async function ripgrep(): Promise<string> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch (err) {
    throw new ToolError(`Searching is not possible here: ${messageOf(err)}`, false);
  }
}

function ripgrepArguments(search: Search): string[] {
  const below = relative(search.cwd, search.target).split(sep).join('/');
  const options = ['--no-config', '--json', '--context=1', '--sort=path', '--engine=auto', '--crlf'];
  // Ignore files above the workspace say nothing about it; those of the workspace hold without a repository as well.
  const ignoring = ['--no-require-git', '--no-ignore-parent', '--no-ignore-global'];
  if (below !== '' && existsSync(join(search.cwd, '.gitignore'))) ignoring.push('--ignore-file=.gitignore');
  // The one who searches looks at every result as well; this only keeps large blocked folders from being read.
  if (search.isBlocked && existsSync(join(search.cwd, BLOCK_FILE))) ignoring.push(`--ignore-file=${BLOCK_FILE}`);
  const glob = search.filePattern ? [`--glob=${globFor(search.filePattern, search.directory ? below : '')}`] : [];
  // A pattern for file names shows hidden files too; unfinished writes stay hidden.
  return [...options, ...ignoring, ...glob, `--glob=!${TEMP_GLOB}`, `--regexp=${search.regex}`, '--', `./${below}`];
}

/** ripgrep matches globs with a `/` against paths relative to its working directory. */
function globFor(pattern: string, below: string): string {
  const bare = pattern.replace(/^!/, '');
  if (below === '' || !bare.includes('/')) return pattern;
  const escaped = below.replace(/[\\*?[\]{}!]/g, '\\$&');
  return `${pattern.startsWith('!') ? '!' : ''}/${escaped}/${bare.replace(/^\//, '')}`;
}

/** ripgrep follows a link that is given to it by name. */
function checkStillThere({ target, directory }: Search): void {
  try {
    holdFolder(directory ? target : dirname(target)).close();
    if (directory || lstatSync(target).isFile()) return;
  } catch (err) {
    throw fileProblem(err, target, 'searched');
  }
  throw fileProblem(new PathMoved(target), target, 'searched');
}

async function collect(child: ChildProcess, isBlocked: Search['isBlocked']): Promise<SearchFound> {
  const found: SearchFound = { files: [], results: 0, complaints: '' };
  if (child.stdout === null) return found;
  let last = { path: '', blocked: false };
  for await (const event of readMatches(child.stdout)) {
    if (event.path !== last.path) {
      last = { path: event.path, blocked: (await isBlocked?.(nameOf(event))) ?? false };
    }
    if (last.blocked) continue;
    if (event.match && found.results === MAX_RESULTS) return { ...found, incomplete: 'limit' };
    add(found, event);
  }
  return found;
}

function nameOf({ path }: Pick<SearchEvent, 'path'>): string {
  return path.replace(/^\.\//, '');
}

function add(found: SearchFound, { path, line, text, match }: SearchEvent): void {
  const name = nameOf({ path });
  let file = found.files.at(-1);
  if (file?.path !== name) {
    file = { path: name, lines: [] };
    found.files.push(file);
  }
  file.lines.push({ line, text, match });
  if (match) found.results++;
}

function endOf(child: ChildProcess): Promise<{ code: number | null; stderr: string }> {
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    if (stderr.length < MAX_STDERR_CHARS) stderr += piece;
  });
  return new Promise((settle) => {
    child.on('error', (err) => settle({ code: 2, stderr: err.message }));
    child.on('close', (code) => settle({ code, stderr: stderr.trim() }));
  });
}

function searchFailed(stderr: string): ToolError {
  const reason = stderr.slice(0, MAX_STDERR_CHARS) || 'ripgrep ended without saying why';
  return new ToolError(`The search failed, so nothing is known about matches:\n${reason}`);
}

/** Directory that results of a target outside the workspace are relative to. */
export function cwdOutside(target: string, directory: boolean): string {
  return directory ? target : dirname(target);
}

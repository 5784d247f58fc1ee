import type { ReadOnly } from './judges.js';
import { type Options, type ReadOptions, readOptions } from './options.js';
import type { Argument } from './words.js';

type Check = (read: ReadOptions) => string | undefined;

interface Command extends Options {
  /** Looks at files of the work tree, and so at submodules, filters and the index. */
  workTree?: true;
  /** Reads the content of many files. */
  recursive?: true;
  check?: Check;
}

/** Options of all that prints commits and differences; none that writes, pages, verifies signatures or runs a driver of its own. */
const SHOWING: Options = {
  short: 'pusziEFPwbaqMCn:U:S:G:L:',
  digits: true,
  long:
    'patch no-patch oneline graph decorate= no-decorate all branches= tags= remotes= stat= shortstat ' +
    'numstat dirstat= summary name-only name-status raw unified: since: after: until: before: author: ' +
    'committer: grep: all-match invert-grep regexp-ignore-case follow first-parent merges no-merges ' +
    'reverse format: pretty= date: relative-date abbrev= abbrev-commit no-abbrev-commit color= no-color ' +
    'color-words= word-diff= diff-filter: max-count: skip: topo-order date-order author-date-order ' +
    'left-right cherry-pick cherry-mark boundary ancestry-path full-history no-ext-diff no-textconv ' +
    'cached staged merge-base check relative= text ignore-all-space ignore-space-change ' +
    'ignore-blank-lines minimal patience histogram find-renames= find-copies= no-renames exit-code quiet ' +
    'full-index binary no-prefix ignore-submodules= function-context inter-hunk-context: pickaxe-regex ' +
    'pickaxe-all no-notes no-mailmap source count objects parents children',
};

const noOperands = ({ operands }: ReadOptions) => (operands.length === 0 ? undefined : 'it could change something');

/** Names alone are a pattern only where it is said that they are to be listed. */
function listing(...options: string[]): Check {
  return (read) => (read.given.some(({ name }) => options.includes(name)) ? undefined : noOperands(read));
}

const COMMANDS = new Map<string, Command>([
  ['log', SHOWING],
  ['show', SHOWING],
  ['whatchanged', SHOWING],
  ['rev-list', SHOWING],
  ['diff', { ...SHOWING, workTree: true }],
  ['shortlog', { short: 'sne', long: 'summary numbered email all since: until: no-merges' }],
  [
    'status',
    {
      short: 'sbzv',
      long: 'short branch porcelain= long untracked-files= ignored= show-stash ahead-behind renames no-renames',
      workTree: true,
    },
  ],
  [
    'branch',
    {
      short: 'arvl',
      long:
        'all remotes verbose list show-current merged no-merged contains no-contains sort: format: color= ' +
        'no-color points-at',
      check: listing('l', 'list', 'merged', 'no-merged', 'contains', 'no-contains', 'points-at'),
    },
  ],
  [
    'tag',
    {
      short: 'ln',
      long: 'list sort: format: merged no-merged contains points-at',
      check: listing('l', 'list', 'merged', 'no-merged', 'contains', 'points-at'),
    },
  ],
  [
    'rev-parse',
    {
      short: 'q',
      long:
        'abbrev-ref short= show-toplevel git-dir absolute-git-dir git-common-dir is-inside-work-tree ' +
        'is-inside-git-dir is-bare-repository is-shallow-repository verify quiet show-prefix show-cdup ' +
        'symbolic-full-name symbolic all branches= tags= remotes=',
    },
  ],
  [
    'ls-files',
    {
      short: 'cdmosuzt',
      long:
        'cached deleted modified others stage unmerged exclude-standard full-name directory ignored ' +
        'error-unmatch eol',
      workTree: true,
    },
  ],
  ['ls-tree', { short: 'rdtlz', long: 'name-only name-status full-tree full-name long abbrev=' }],
  [
    'describe',
    {
      long: 'tags always long abbrev= dirty= all match: exact-match first-parent contains',
      workTree: true,
    },
  ],
  [
    'blame',
    {
      short: 'wMClestfnL:',
      long: 'date: porcelain line-porcelain show-email show-name show-number abbrev:',
      workTree: true,
    },
  ],
  [
    'grep',
    {
      short: 'niIlLwvchHEFPqae:A:B:C:m:',
      long:
        'line-number ignore-case name-only files-with-matches count word-regexp cached extended-regexp ' +
        'fixed-strings perl-regexp and or not untracked heading break show-function color= no-color ' +
        'max-depth: max-count: quiet',
      workTree: true,
      recursive: true,
    },
  ],
  ['cat-file', { short: 'tspe' }],
  ['merge-base', { short: 'a', long: 'all is-ancestor fork-point octopus' }],
  ['name-rev', { long: 'name-only tags all' }],
  ['for-each-ref', { long: 'sort: format: count: contains: merged:' }],
  ['show-ref', { short: 'dq', long: 'head heads tags verify quiet hash=' }],
  ['count-objects', { short: 'vH', check: noOperands }],
  ['check-ignore', { short: 'vnq', long: 'no-index verbose quiet non-matching' }],
]);

/** Commands of two words, with exactly these arguments behind them. */
const FIXED = new Set([
  'remote',
  'remote -v',
  'remote show',
  'stash list',
  'stash show',
  'stash show -p',
  'worktree list',
  'reflog',
  'reflog show',
  '--version',
  'version',
]);

const GLOBAL_OPTIONS = ['--no-pager', '-P', '--no-optional-locks', '--literal-pathspecs'];

/** git, where it only reads. Whether the repository's own settings could run something is for the caller to find out. */
export function isSafeGit(args: Argument[]): ReadOnly {
  const start = args.findIndex((one) => one.value === undefined || !GLOBAL_OPTIONS.includes(one.value));
  const [command, ...rest] = start === -1 ? [] : args.slice(start);
  if (command?.value === undefined) return { why: 'its command is not known' };
  const words = [command, ...rest].map((one) => one.value ?? '\0');
  const all = words.join(' ');
  if (FIXED.has(all)) return { files: [], git: 'work-tree' };
  if (
    /^(config --get(-all)? (user|core|init|branch|remote|pull|push|commit)\.[\w./-]+|remote get-url [^-\0 ][^\0 ]*)$/.test(
      all,
    )
  )
    return { files: [], git: 'objects' };
  const known = COMMANDS.get(command.value);
  if (!known) return { why: `git ${command.text} is not known to only read` };
  const read = readOptions(rest, known);
  if (typeof read === 'string') return { why: read };
  const format = read.given.find(({ value }) => value !== undefined && /%G|%\(signature/.test(value.value ?? '%G'));
  if (format) return { why: 'its format could verify signatures' };
  const wrong = known.check?.(read);
  if (wrong !== undefined) return { why: wrong };
  return {
    files: read.operands,
    git: known.workTree ? 'work-tree' : 'objects',
    ...(known.recursive && { recursive: true }),
  };
}

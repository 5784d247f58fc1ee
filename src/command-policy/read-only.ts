import { isSafeGit } from './git.js';
import { anything, exactly, type Judge, noFiles, only, type ReadOnly, type Spec } from './judges.js';
import { mayBeOption, type ReadOptions } from './options.js';
import { AWK_SCRIPT, SED_SCRIPT } from './small-scripts.js';
import type { Argument } from './words.js';

const hasPattern = ({ given }: ReadOptions) =>
  given.some(({ name }) => ['e', 'f', 'regexp', 'file'].includes(name)) ? 0 : 1;

const GREP: Spec = {
  harmless: true,
  short: 'EFGPivwxyclLoqshHnbTUzZaIrRe:f:m:A:B:C:D:d:',
  long:
    'extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match ' +
    'word-regexp line-regexp count files-with-matches files-without-match only-matching quiet silent ' +
    'no-messages with-filename no-filename line-number byte-offset text recursive dereference-recursive ' +
    'color= colour= regexp: file: max-count: after-context: before-context: context: include: exclude: ' +
    'exclude-dir: binary-files: null line-buffered',
  digits: true,
  files: 'f file',
  texts: hasPattern,
  recursive: ['r', 'R', 'recursive', 'dereference-recursive'],
  check: ({ given }) =>
    given.some(({ name }) => name === 'R' || name === 'dereference-recursive')
      ? '-R follows links out of the workspace'
      : undefined,
};

const RG: Spec = {
  short: 'iSsvwxcloqnNHIFPUaug:e:f:A:B:C:m:j:M:T:t:d:.0pr:',
  long:
    'ignore-case smart-case case-sensitive invert-match word-regexp line-regexp count count-matches ' +
    'files-with-matches files-without-match only-matching quiet line-number no-line-number with-filename ' +
    'no-filename fixed-strings pcre2 multiline text unrestricted glob: iglob: regexp: file: ' +
    'after-context: before-context: context: max-count: threads: max-columns: type: type-not: max-depth: ' +
    'hidden no-ignore no-ignore-vcs heading no-heading color: column files sort: json trim no-config ' +
    'stats type-list version no-messages replace: vimgrep null',
  files: 'f file',
  texts: (read) =>
    read.given.some(({ name }) => ['files', 'type-list', 'version'].includes(name)) ? 0 : hasPattern(read),
};

const SORT: Spec = {
  short: 'bdfghinMRrVcCmsuzk:t:',
  long:
    'ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort ' +
    'numeric-sort reverse version-sort check merge stable unique zero-terminated key: field-separator:',
};

const UNIQ: Spec = {
  short: 'cdDiuzf:s:w:',
  long: 'count repeated ignore-case unique zero-terminated skip-fields: skip-chars: check-chars:',
  most: 1,
};

const TREE: Spec = {
  short: 'adfiqNpsughDFxCnAL:I:P:',
  long: 'dirsfirst noreport prune gitignore filelimit: matchdirs',
};

const JQ: Spec = {
  short: 'nrRscCMSeja',
  long:
    'null-input raw-output raw-input slurp compact-output color-output monochrome-output sort-keys ' +
    'exit-status tab join-output indent:',
  texts: 1,
  check: ({ operands }) => {
    const script = operands[0]?.value;
    return script !== undefined && !/\b(env|ENV|input_filename|import|include|get_search_list)\b/.test(script)
      ? undefined
      : 'its program can read more than its files';
  },
};

const SED: Spec = {
  short: 'nErsuze:',
  long: 'quiet silent regexp-extended expression: separate unbuffered null-data sandbox posix',
  texts: (read) => (read.given.some(({ name }) => name === 'e' || name === 'expression') ? 0 : 1),
  check: ({ given, operands }) => {
    const scripts = given.flatMap(({ name, value }) => (name === 'e' || name === 'expression' ? [value] : []));
    const all = scripts.length === 0 ? operands.slice(0, 1) : scripts;
    return all.every((one) => SED_SCRIPT.test(one?.value ?? '\0'))
      ? undefined
      : 'its script could write or run something';
  },
};

const AWK: Spec = {
  short: 'F:',
  texts: 1,
  check: ({ operands }) =>
    AWK_SCRIPT.test(operands[0]?.value ?? '\0') ? undefined : 'its program could write or run something',
};

const FIND_TESTS = new Set(
  '-H -P -not ! ( ) , -a -and -o -or -depth -mount -xdev -daystart -empty -executable -readable -writable -true -false -print -print0 -ls -prune -quit -noleaf -nogroup -nouser'.split(
    ' ',
  ),
);
const FIND_VALUES = new Set(
  '-maxdepth -mindepth -name -iname -path -ipath -wholename -regex -iregex -regextype -type -xtype -size -mtime -atime -ctime -mmin -amin -cmin -perm -user -group -uid -gid -links -inum -lname -ilname -newermt -printf -fstype'.split(
    ' ',
  ),
);
const FIND_FILES = new Set(['-newer', '-samefile', '-anewer', '-cnewer']);

/** Its tests; actions other than printing, and `-L`, are not among them. `-exec` is judged by what it runs. */
const find: Judge = (args) => {
  const files: Argument[] = [];
  let inExpression = false;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as Argument;
    const { value } = arg;
    if (value === undefined && mayBeOption(arg)) return { why: `${arg.text} could become an action` };
    const isExpression = value !== undefined && (/^-./.test(value) || ['!', '(', ')', ','].includes(value));
    if (!isExpression) {
      if (inExpression) return { why: `${arg.text} is not known to be safe` };
      files.push(arg);
      continue;
    }
    if (value !== '-H' && value !== '-P') inExpression = true;
    if (FIND_TESTS.has(value)) continue;
    const next = args[++at];
    if (value === '-exec') {
      while (at < args.length && args[at]?.value !== ';' && !(args[at]?.value === '+' && args[at - 1]?.value === '{}'))
        at++;
      continue;
    }
    if (!next?.single) return { why: `${value} is not followed by what it needs` };
    if (FIND_FILES.has(value)) files.push(next);
    else if (!FIND_VALUES.has(value)) return { why: `${value} is not a test that is known to be safe` };
  }
  return { files };
};

const date: Judge = only({
  short: 'uRI:d:r:',
  long: 'utc universal rfc-2822 iso-8601= rfc-3339: date: reference: rfc-email',
  files: 'r reference',
  texts: 1,
  most: 1,
  check: ({ operands }) => (operands.every((one) => one.prefix.startsWith('+')) ? undefined : 'it could set the clock'),
});

const printf: Judge = (args) =>
  args[0] && mayBeOption(args[0]) && args[0].value !== '--' ? { why: 'it could set a variable' } : { files: [] };

const SAFE_TESTS = /^-[abcdefghknoprstuwxzGLNOS]$/;
/** `-v` and `-R` evaluate what stands in brackets. */
const test: Judge = (args) => {
  if (args.some((one) => !one.single)) return { why: 'its arguments are not known' };
  const bad = args.find(({ value, prefix }, at) => {
    if (value !== undefined) return /^-[a-zA-Z]$/.test(value) && !SAFE_TESTS.test(value);
    const next = args[at + 1];
    // it could become `-v`
    return prefix === '' && next !== undefined && (next.value?.includes('[') ?? true);
  });
  return bad
    ? { why: `${bad.text} could evaluate what stands behind it` }
    : { files: args.filter((one) => one.value !== undefined && !/^-[a-z]+$/i.test(one.value)) };
};

const SET = exactly(
  '-e',
  '-u',
  '-x',
  '-eu',
  '-ex',
  '-eux',
  '-o pipefail',
  '-eo pipefail',
  '-euo pipefail',
  '-euxo pipefail',
  '+e',
  '+x',
);

const lookUp: Judge = (args) => ({ files: args.filter((one) => one.value?.includes('/') ?? false) });
const versionOnly = exactly('--version', '-v', '-V');

const READERS =
  'cat head nl tac rev fold expand unexpand paste comm join od hexdump base64 base32 realpath readlink stat dir cmp'.split(
    ' ',
  );
const SPEAKERS =
  'echo true false : tr basename dirname seq sleep whoami id uname arch nproc uptime free df groups tty logname'.split(
    ' ',
  );

const SUMS = 'cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum'.split(' ');

/** By the name of the program, as it is found on PATH. */
const COMMANDS = new Map<string, Judge>([
  ...READERS.map((name): [string, Judge] => [name, anything]),
  ...SPEAKERS.map((name): [string, Judge] => [name, noFiles]),
  ['file', only({ short: 'bikLhs', long: 'brief mime mime-type mime-encoding dereference no-dereference' })],
  [
    'diff',
    only({
      short: 'abBcdiNqrstTuwyEC:U:W:x:I:',
      long:
        'unified= context= brief recursive side-by-side ignore-case ignore-all-space ignore-space-change ' +
        'ignore-blank-lines color= exclude: width: new-file text minimal suppress-common-lines',
      recursive: ['r', 'recursive'],
    }),
  ],
  ...SUMS.map((name): [string, Judge] => [name, only({ harmless: true, short: 'btz', long: 'binary text tag zero' })]),
  ['wc', only({ harmless: true, short: 'clmwL', long: 'bytes chars lines words max-line-length' })],
  [
    'du',
    only({
      harmless: true,
      short: '0abchklmSsxd:',
      long: 'all bytes total human-readable summarize max-depth: exclude: apparent-size si',
    }),
  ],
  [
    'strings',
    only({
      short: 'afn:t:',
      check: ({ operands }) =>
        operands.some((one) => one.prefix.startsWith('@')) ? 'it reads options from a file' : undefined,
    }),
  ],
  ['who', exactly('')],
  ['users', exactly('')],
  ['w', exactly('')],
  [
    'tail',
    only({
      harmless: true,
      short: 'qvzn:c:',
      long: 'lines: bytes: quiet silent verbose zero-terminated',
      digits: true,
    }),
  ],
  [
    'ls',
    only({
      harmless: true,
      short: 'aAbBcCdDfFgGhHikLlmnNopqQrRsStTuUvwxXZ1I:',
      long:
        'all almost-all author color= directory classify full-time group-directories-first human-readable si ' +
        'inode reverse recursive size sort= time= time-style= ignore: no-group numeric-uid-gid',
    }),
  ],
  [
    'cut',
    only({
      short: 'b:c:d:f:nsz',
      long: 'bytes: characters: delimiter: fields: complement only-delimited output-delimiter:',
    }),
  ],
  ['awk', only(AWK)],
  ['gawk', only(AWK)],
  ['mawk', only(AWK)],
  ['grep', only(GREP)],
  ['egrep', only(GREP)],
  ['fgrep', only(GREP)],
  ['rg', (args) => markRecursive(only(RG)(args))],
  ['sort', only(SORT)],
  ['uniq', only(UNIQ)],
  ['tree', only(TREE)],
  ['jq', only(JQ)],
  ['sed', only(SED)],
  ['find', find],
  ['date', date],
  ['printf', printf],
  ['test', test],
  ['[', test],
  ['set', SET],
  [
    'exit',
    (args) =>
      args.every((one) => one.value !== undefined && /^\d+$/.test(one.value))
        ? { files: [] }
        : { why: 'its arguments are not known' },
  ],
  ['break', exactly('', '1')],
  ['continue', exactly('', '1')],
  ['return', exactly('', '0', '1')],
  ['wait', exactly('')],
  ['pwd', exactly('', '-P', '-L')],
  ['hostname', exactly('', '-f', '-s', '-i', '-I')],
  ['which', lookUp],
  ['type', lookUp],
  ['command', lookUp],
  ['whereis', noFiles],
  ['ps', exactly('', 'aux', 'ax', 'auxf', '-e', '-A', '-ef', '-aux', '-eo pid,ppid,cmd', '-eo pid,cmd')],
  ['pgrep', noFiles],
  ['node', versionOnly],
  ['python', versionOnly],
  ['python3', versionOnly],
  ['bash', exactly('--version')],
  ['gcc', exactly('--version')],
  ['make', exactly('--version')],
  ['git', isSafeGit],
]);

function markRecursive(read: ReadOnly): ReadOnly {
  return 'why' in read ? read : { ...read, recursive: true };
}

/** Built into bash: no file on PATH is run. */
const BUILTINS: ReadonlySet<string> = new Set(
  'echo printf true false : test [ pwd set exit break continue return wait type command builtin cd'.split(' '),
);

export function isBuiltin(name: string): boolean {
  return BUILTINS.has(name);
}

/** Whether a command only reads, as far as its arguments say. @param words all known to be one command's */
export function judgeReadOnly(words: readonly Argument[]): ReadOnly {
  const [first, ...args] = words;
  const judge = first?.value === undefined ? undefined : COMMANDS.get(first.value);
  return judge ? judge(args) : { why: 'it is not known to only read' };
}

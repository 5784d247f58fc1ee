import { basename } from 'node:path';
import { type Options, readOptions } from './options.js';
import { isHarmlessAssignment } from './variables.js';
import { type Argument, literal } from './words.js';

/** A command that another one runs: its words, or a text that a shell reads. */
export type Inner = { words: Argument[] } | { script: Argument; shell: 'bash' | 'other' };

export interface Unwrapped {
  inner: Inner[];
  /** It adds nothing to what it runs: not another user, place, environment or machine. */
  transparent: boolean;
  /** Why it cannot be seen what it runs. */
  hidden?: string;
}

type Unwrap = (args: Argument[], name: string) => Unwrapped | undefined;

/**
 * What a command runs besides itself; undefined for one that is not known to run others. Programs that run what is in a
 * file (`bash FILE`, `make`, `npm run`) are commands as others are: see docs/command-approval.md.
 */
export function unwrap(words: readonly Argument[]): Unwrapped | undefined {
  const [first, ...args] = words;
  const name = first?.value === undefined ? undefined : basename(first.value);
  if (name === undefined || !Object.hasOwn(WRAPPERS, name)) return undefined;
  const wrapped = WRAPPERS[name]?.(args, name);
  // a program of that name that lies somewhere may be another one
  return wrapped && first?.value !== name ? { ...wrapped, transparent: false } : wrapped;
}

const RUNS_TEXT = 'it runs code in another language';

const hidden = (why: string): Unwrapped => ({ inner: [], transparent: false, hidden: why });

/** `NAME [OPTIONS] [`skip` operands] COMMAND...` */
function prefix(options: Options, { skip = 0, transparent = true, writing = {} as Options } = {}): Unwrap {
  const names = [...(writing.short ?? '').replaceAll(':', ''), ...(writing.long ?? '').replace(/[:=]/g, '').split(' ')];
  const risky = new Set(names);
  const short = (options.short ?? '') + (writing.short ?? '');
  const all: Options = { ...options, short, long: `${options.long ?? ''} ${writing.long ?? ''}` };
  return (args) => {
    const read = readOptions(args, all, true);
    if (typeof read === 'string') return hidden(read);
    const command = read.operands.slice(skip);
    if (command.length === 0) return undefined;
    if (read.operands.slice(0, skip).some((one) => !one.single)) return hidden('its command is not known');
    const isPlain = read.given.every((one) => !risky.has(one.name));
    return { inner: [{ words: command }], transparent: transparent && isPlain };
  };
}

const env: Unwrap = (args) => {
  const read = readOptions(args, { short: 'i0vu:', long: 'ignore-environment null debug unset:' }, true);
  if (typeof read === 'string') return hidden(read);
  const rest = read.operands[0]?.value === '-' ? read.operands.slice(1) : read.operands;
  const at = rest.findIndex((one) => !/^[^=]*[^\\]?=/.test(one.value ?? one.prefix));
  if (at === -1) return undefined;
  if (rest.slice(0, at).some((one) => !one.single)) return hidden('its command is not known');
  return {
    inner: [{ words: rest.slice(at) }],
    transparent: rest.slice(0, at).every(({ value = '' }) => isHarmlessAssignment(value)),
  };
};

const shell: Unwrap = (args, name) => {
  const at = args.findIndex((one) => one.value === undefined || !/^[-+]/.test(one.value));
  const options = at === -1 ? args : args.slice(0, at);
  if (options.some((one) => one.value === '-s')) return hidden('it reads commands from its input');
  const isText = options.some((one) => /^-[a-zA-Z]*c[a-zA-Z]*$/.test(one.value ?? ''));
  const operand = args[at];
  if (!isText) return operand ? undefined : hidden('it reads commands from its input');
  if (!operand?.single || options.length > 1) return hidden('its command is not known');
  const isPlain = options[0]?.value === '-c';
  const asBash = name === 'bash';
  return { inner: [{ script: operand, shell: asBash ? 'bash' : 'other' }], transparent: isPlain && asBash };
};

/** Joins its arguments by spaces and reads them as the shell does. */
function joined(args: readonly Argument[], shellName: 'bash' | 'other', transparent = false): Unwrapped | undefined {
  if (args.length === 0) return undefined;
  if (args.some((one) => one.value === undefined)) return hidden('its command is not known');
  const text = args.map((one) => one.value).join(' ');
  return { inner: [{ script: literal(text), shell: shellName }], transparent };
}

const xargs: Unwrap = (args) => {
  const known: Options = {
    short: 'rt0xd:n:P:L:s:I:E:',
    long: 'null no-run-if-empty verbose exit delimiter: max-args: max-procs: max-lines: max-chars:',
  };
  const read = readOptions(args, known, true);
  if (typeof read === 'string') return hidden(read);
  const replace = read.given.find((one) => one.name === 'I')?.value?.value;
  const command = read.operands.length === 0 ? [literal('echo')] : read.operands;
  const words =
    replace === undefined
      ? [...command, { text: 'what xargs reads', prefix: '', single: false, stands: 'anything' as const }]
      : command.map((one) => (one.value?.includes(replace) ? filled(one, replace, 'anything') : one));
  return { inner: [{ words }], transparent: true };
};

/** One argument, of which only what stands before the marker is known. */
function filled({ text, value = '' }: Argument, marker: string, stands: 'found' | 'anything'): Argument {
  const isWhole = value === marker;
  return { text, prefix: value.slice(0, value.indexOf(marker)), single: true, ...(isWhole && { stands }) };
}

const find: Unwrap = (args) => {
  const inner: Inner[] = [];
  for (let at = 0; at < args.length; at++) {
    const value = args[at]?.value;
    if (value === undefined && args[at]?.prefix === '') return hidden(`${args[at]?.text} could become an action`);
    if (!value || !/^-(exec|execdir|ok|okdir)$/.test(value)) continue;
    const rest = args.slice(at + 1);
    const end = rest.findIndex((one, i) => one.value === ';' || (one.value === '+' && rest[i - 1]?.value === '{}'));
    if (end <= 0) return hidden('the end of its command is not known');
    const stands = findsFilesOnly(args.slice(0, at)) ? 'found' : 'anything';
    const words = rest.slice(0, end).map((one) => (one.value?.includes('{}') ? filled(one, '{}', stands) : one));
    inner.push({ words });
    at += end + 1;
  }
  return inner.length === 0 ? undefined : { inner, transparent: false };
};

/** What it finds is no link, and so lies where it was told to look. */
function findsFilesOnly(before: readonly Argument[]): boolean {
  const values = before.map((one) => one.value ?? '');
  const at = values.indexOf('-type');
  const isPlain = !values.some((one) => ['-o', '-or', ',', '(', '-L'].includes(one));
  return isPlain && values[at + 1] === 'f' && !['!', '-not'].includes(values[at - 1] ?? '');
}

const git: Unwrap = (args) => {
  const values = args.map((one) => one.value ?? '');
  const own = values.find((one) => /^(-c|--config-env|--exec-path)(=|$)/.test(one) || /^-c./.test(one));
  if (own !== undefined) return hidden('it brings settings of its own, which can run commands');
  const isRunning =
    (values.includes('bisect') && values.includes('run')) ||
    (values.includes('submodule') && values.includes('foreach')) ||
    (values.includes('rebase') && values.some((one) => /^(-x.*|--exec(=.*)?)$/.test(one))) ||
    values.some((one) => /^(filter-branch|--upload-pack.*|--receive-pack.*|--extcmd.*|ext::.*)$/.test(one));
  return isRunning ? hidden('it runs other commands') : undefined;
};

/** Interpreters, when the code is among the arguments. */
function code(options: RegExp): Unwrap {
  return (args) =>
    args.some(({ value }) => value !== undefined && options.test(value)) ? hidden(RUNS_TEXT) : undefined;
}

const trap: Unwrap = (args) => {
  const action = args.find((one) => !one.value?.startsWith('-'));
  if (!action || args.length < 2) return undefined;
  return { inner: [{ script: action, shell: 'bash' }], transparent: false };
};

const unseen: Unwrap = () => hidden('it runs or changes what is not seen here');
const always: Unwrap = (args) => (args.length === 0 ? undefined : hidden('it runs other commands'));

const lookup: Unwrap = (args, name) => {
  if (args.some((one) => /^-[pvV]*[vV]/.test(one.value ?? ''))) return undefined;
  return prefix({ short: 'p' })(args, name);
};

const sudo = prefix(
  {
    short: 'AbEHnPSkKu:g:h:p:C:r:t:T:U:D:R:',
    long: 'non-interactive preserve-env= user: group: set-home',
  },
  { transparent: false },
);

const WRAPPERS: Readonly<Record<string, Unwrap>> = {
  env,
  xargs,
  find,
  gfind: find,
  git,
  sudo,
  doas: prefix({ short: 'nu:C:' }, { transparent: false }),
  nohup: prefix({}),
  nice: prefix({ short: 'n:', long: 'adjustment:', digits: true }),
  ionice: prefix({ short: 'tc:n:', long: 'class: classdata: ignore' }),
  chrt: prefix({ short: 'abfiormv' }, { skip: 1, transparent: false }),
  taskset: prefix({ short: 'ac' }, { skip: 1, transparent: false }),
  timeout: prefix({ short: 'k:s:v', long: 'kill-after: signal: preserve-status foreground verbose' }, { skip: 1 }),
  time: prefix(
    { short: 'pv', long: 'portability verbose' },
    { writing: { short: 'ao:f:', long: 'append output: format:' } },
  ),
  stdbuf: prefix({ short: 'i:o:e:', long: 'input: output: error:' }),
  setsid: prefix({ short: 'cfw', long: 'ctty fork wait' }, { transparent: false }),
  chroot: prefix({ long: 'userspec: groups: skip-chdir' }, { skip: 1, transparent: false }),
  flock: prefix(
    { short: 'sxnoFuw:E:', long: 'shared exclusive nonblock close unlock timeout:' },
    { skip: 1, transparent: false },
  ),
  npx: prefix({ short: 'yp:', long: 'yes no no-install package:' }, { transparent: false }),
  uvx: prefix({ long: 'from: with:' }, { transparent: false }),
  busybox: prefix({}, { transparent: false }),
  toybox: prefix({}, { transparent: false }),
  command: lookup,
  builtin: prefix({}),
  exec: prefix({ short: 'cla:' }, { transparent: false }),
  watch: (args) => {
    const read = readOptions(args, { short: 'bcdegtxn:', long: 'interval: exec no-title errexit chgexit' }, true);
    return typeof read === 'string' ? hidden(read) : joined(read.operands, 'other');
  },
  eval: (args) => joined(args[0]?.value === '--' ? args.slice(1) : args, 'bash'),
  trap,
  ssh: (args) => {
    const read = readOptions(args, { short: '46AaCfGgKkMNnqsTtVvXxYyb:c:D:E:F:I:i:J:L:l:m:O:o:p:Q:R:S:W:w:' }, true);
    return typeof read === 'string' ? hidden(read) : joined(read.operands.slice(1), 'other');
  },
  ...Object.fromEntries(
    ['bash', 'sh', 'dash', 'ash', 'zsh', 'ksh', 'mksh', 'rbash', 'fish', 'su'].map((name) => [name, shell]),
  ),
  ...Object.fromEntries(['python', 'python2', 'python3', 'pypy', 'pypy3'].map((name) => [name, code(/^-[a-zA-Z]*c/)])),
  ...Object.fromEntries(
    ['perl', 'ruby', 'lua', 'luajit', 'osascript', 'Rscript', 'elixir'].map((name) => [
      name,
      code(/^-[a-zA-Z0-9]*[eE]/),
    ]),
  ),
  ...Object.fromEntries(
    ['node', 'nodejs', 'deno', 'bun', 'tsx'].map((name) => [name, code(/^(-[a-z]*[ep]|--eval|--print|eval)(=|$)/)]),
  ),
  php: code(/^-[rBRE]/),
  ...Object.fromEntries(
    ['source', '.', 'alias', 'enable', 'hash', 'shopt', 'bind', 'complete', 'mapfile', 'readarray', 'fc'].map(
      (name) => [name, unseen],
    ),
  ),
  ...Object.fromEntries(
    [
      'parallel',
      'entr',
      'script',
      'unshare',
      'nsenter',
      'bwrap',
      'firejail',
      'strace',
      'ltrace',
      'gdb',
      'expect',
      'tmux',
      'screen',
      'at',
      'batch',
      'crontab',
      'systemd-run',
      'runuser',
      'pkexec',
      'su-exec',
      'gosu',
      'proot',
      'fakeroot',
      'pipx',
    ].map((name) => [name, always]),
  ),
};

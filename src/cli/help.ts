import { calledFromAnywhere } from './called-as.js';
import { wrap } from './flow.js';
import { columns, type Io } from './io.js';

/** What exit codes mean; docs/cli.md has the same. */
const EXIT_WORDS = {
  0: 'completed (run, attach); the command did what it says',
  1: 'the task failed, or an error',
  2: 'wrong usage',
  3: 'the task waits for a person',
  4: 'the task was ended by its budget',
  5: 'Temporal cannot be reached',
  130: 'the task was aborted',
  143: 'run or attach was told to leave (SIGTERM); the task goes on',
} as const;
type ExitCode = keyof typeof EXIT_WORDS;

interface CommandHelp {
  /** What follows the command's name. */
  examples: readonly string[];
  exits: readonly ExitCode[];
  /** In place of the general words for code 0. */
  zero?: string;
  /** The same for code 1. */
  one?: string;
  /** What stands below the examples. */
  more?: (io: Io) => string;
}

const FOLLOWS: readonly ExitCode[] = [0, 1, 2, 3, 4, 5, 130, 143];
const LOCAL: readonly ExitCode[] = [0, 1, 2];
const REMOTE: readonly ExitCode[] = [0, 1, 2, 5];
const DEMO: readonly ExitCode[] = FOLLOWS.filter((code) => code !== 143);

const howToComplete = (call: string): string => `To have it in every shell, add a line to its start-up file:
  bash, ~/.bashrc:
    source <(${call} completion bash)
  zsh, ~/.zshrc, below compinit:
    source <(${call} completion zsh)
  fish, ~/.config/fish/config.fish:
    ${call} completion fish | source`;

/** Examples and exit codes of each command, by its name behind those of its groups. */
export const HELP: Readonly<Record<string, CommandHelp>> = {
  up: { examples: ['up', 'up --foreground'], exits: LOCAL, zero: 'the service runs' },
  down: { examples: ['down'], exits: LOCAL, zero: 'the service is down' },
  run: {
    examples: [
      'run "Make the date parser accept ISO weeks" -w ~/src/app',
      'run "Update the changelog" --approve edit --max-turns 40',
      'run "Fix the build" --profile work --max-time 2h --detach',
      'run "Port the tests" --yolo --max-cost 5 --soft-limit 80',
      'run --prompt-file plan.md --yolo --json --on-ask exit',
      'run "Build this form" --image form.png --mode plan --ask-deadline 3d',
    ],
    exits: FOLLOWS,
    zero: 'completed; with --detach, or after detaching: the task goes on',
  },
  attach: {
    examples: ['attach k3v', 'attach k3v --from 120', 'attach k3v --json --on-ask wait'],
    exits: FOLLOWS,
    zero: 'completed; after detaching: the task goes on',
  },
  log: {
    examples: ['log k3v', 'log k3v --full | less', 'log k3v --follow --json'],
    exits: LOCAL,
    zero: 'printed, however the task stands',
  },
  answer: {
    examples: [
      'answer k3v a7 yes',
      'answer k3v a7 no --text "use yarn"',
      'answer k3v 2',
      'answer k3v "Like this" --image shot.png',
    ],
    exits: REMOTE,
    zero: 'the answer was taken, or left for the next worker',
  },
  send: {
    examples: ['send k3v "The tests need Node 22"', 'send k3v "Now update the docs as well" --file docs/style.md'],
    exits: REMOTE,
    zero: 'the message was left',
  },
  abort: {
    examples: ['abort k3v', 'abort k3v --force'],
    exits: REMOTE,
    zero: 'the task has ended, or will',
  },
  resume: {
    examples: ['resume k3v', 'resume k3v "The tests are in test/, go on there"', 'resume k3v --detach --json'],
    exits: FOLLOWS,
    zero: 'completed; with --detach, or after detaching: the task goes on',
  },
  pause: { examples: ['pause k3v'], exits: REMOTE, zero: 'the task is paused, or will be after the present step' },
  unpause: { examples: ['unpause k3v'], exits: REMOTE, zero: 'the task goes on' },
  mode: { examples: ['mode k3v plan', 'mode k3v act'], exits: REMOTE, zero: 'the next turn is in that mode' },
  budget: {
    examples: ['budget k3v', 'budget k3v --max-turns 80 --max-cost 5', 'budget k3v --no-max-time'],
    exits: REMOTE,
    zero: 'shown, or changed',
  },
  rewind: {
    examples: ['rewind k3v', 'rewind k3v 12', 'rewind k3v 12 "Do it without the new dependency"'],
    exits: REMOTE,
    zero: 'listed, or taken back',
  },
  tasks: { examples: ['tasks', 'tasks --status waiting', 'tasks --limit 10 --json'], exits: LOCAL, zero: 'listed' },
  show: { examples: ['show k3v', 'show k3v --json'], exits: LOCAL, zero: 'shown, however the task stands' },
  worker: {
    examples: ['worker', 'worker --role host --host build-7'],
    exits: REMOTE,
    zero: 'it was told to end, and has',
  },
  profile: { examples: ['profile save default', 'profile list'], exits: LOCAL },
  'profile save': {
    examples: ['profile save default', 'profile save work --key-stdin < key.txt'],
    exits: LOCAL,
    zero: 'saved',
  },
  'profile list': { examples: ['profile list', 'profile list --json'], exits: LOCAL, zero: 'listed' },
  'profile show': { examples: ['profile show work'], exits: LOCAL, zero: 'shown' },
  'profile remove': { examples: ['profile remove work', 'profile remove work --force'], exits: LOCAL, zero: 'removed' },
  doctor: {
    examples: ['doctor', 'doctor --offline', 'doctor --json'],
    exits: LOCAL,
    zero: 'nothing is broken',
    one: 'something does not work',
  },
  demo: { examples: ['demo'], exits: DEMO, zero: 'the project was repaired' },
  completion: {
    examples: ['completion bash'],
    exits: LOCAL,
    zero: 'printed',
    more: (io) => howToComplete(calledFromAnywhere(io.command)),
  },
};

/** Columns for help: a terminal's, up to where lines become hard to read. */
export function helpWidth(io: Io): number {
  return io.stdout.isTTY ? Math.min(columns(io), 100) : 80;
}

/** What stands below the flags of a command. @param path its name behind those of its groups, such as `profile save` */
export function commandHelp(io: Io, path: string): string {
  const help = HELP[path];
  if (!help) return '';
  const examples = help.examples.map((example) => `  ${io.command} ${example}`);
  const words = {
    ...EXIT_WORDS,
    ...(help.exits.includes(3) ? {} : { 1: help.one ?? 'an error' }),
    ...(help.zero ? { 0: help.zero } : {}),
  };
  const more = help.more ? `${help.more(io)}\n\n` : '';
  return `\nExamples:\n${examples.join('\n')}\n\n${more}${exitCodes(io, help.exits, words)}`;
}

/** What stands below the list of commands. */
export function programHelp(io: Io): string {
  const codes = exitCodes(io, FOLLOWS, EXIT_WORDS);
  const notes = [
    'Tasks are named by their id or a beginning of it that no other task has.',
    'State is kept in $LONGHAUL_HOME (~/.longhaul). Every command but demo takes --json: docs/cli.md has the formats.',
    `\`${io.command} COMMAND --help\` has flags, examples and exit codes of each command.`,
  ];
  return `\n${codes}\n\n${notes.map((note) => wrap(note, helpWidth(io))).join('\n')}`;
}

function exitCodes(io: Io, codes: readonly ExitCode[], words: Readonly<Record<ExitCode, string>>): string {
  const lines = codes.map((code) => wrap(`  ${String(code).padEnd(3)}  ${words[code]}`, helpWidth(io), ' '.repeat(7)));
  return `Exit codes:\n${lines.join('\n')}`;
}

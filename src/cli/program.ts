import { Command, type CommanderError } from 'commander';
import { LonghaulError } from '../domain/errors.js';
import { packageVersion } from '../service/package.js';
import { longhaulHome } from '../settings/paths.js';
import {
  badFlag,
  ON_ASK,
  parseApprovals,
  parseCount,
  parseDuration,
  parseOneOf,
  parseStatus,
  parseTask,
  ROLES,
} from './flags.js';
import type { Io } from './io.js';
import { nearest } from './typos.js';

const EXIT_CODES = `
Exit codes:
  0    completed (run, attach); the command did what it says
  1    the task failed, or an error
  2    wrong usage
  3    the task waits for a person
  4    the task was ended by its budget
  5    Temporal cannot be reached
  130  the task was aborted
  143  run or attach was told to leave (SIGTERM); the task goes on

Tasks are named by their id or a beginning of it that no other task has.
State is kept in $LONGHAUL_HOME (~/.longhaul). Every command takes --json: docs/cli.md has the formats.`;

/** Commands that decide for people. */
const FOR_PEOPLE = ['answer', 'send', 'abort'];

/** A task must not answer its own asks: its commands carry a mark. What removes the mark is stopped by a sandbox only. */
function refuseInsideTask(io: Io, name: string): void {
  if (!io.env.LONGHAUL_CALL || !FOR_PEOPLE.includes(name)) return;
  throw new LonghaulError(
    'inside-task',
    `\`${name}\` was called by a command of task ${io.env.LONGHAUL_TASK ?? '?'}.`,
    {
      kept: 'All tasks are as they were.',
      next: 'Call it from a terminal of your own.',
    },
  );
}

/** Commands that use the running service; `up` says for itself what it finds. */
const USE_SERVICE = ['run', 'attach', 'answer', 'send', 'abort'];

/** What the running service is, where that is not what its caller may expect. Loaded for these commands only. */
async function noteService(io: Io, home: string, name: string): Promise<void> {
  if (USE_SERVICE.includes(name)) await (await import('./service-notes.js')).printServiceNotes(io, home);
}

/** What the command line does; each action returns its exit code. Heavy modules are loaded by the action that needs them. */
export function buildProgram(io: Io, done: (code: number) => void): Command {
  const home = longhaulHome(io.env);
  const program = new Command(io.command)
    .description('Coding tasks that survive crashes, deploys and days of waiting.')
    .version(packageVersion(), '-V, --version')
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: () => {},
    })
    .addHelpText('after', EXIT_CODES)
    .hook('preAction', async (_program, action) => {
      refuseInsideTask(io, action.name());
      await noteService(io, home, action.name());
    });
  const command = (usage: string, about: string) =>
    program.command(usage).description(about).option('--json', 'machine-readable output').allowExcessArguments(false);

  command('up', 'start the service: Temporal and a worker')
    .option('--foreground', 'run it here, until Ctrl-C')
    .action(async (flags) => done(await (await import('./up.js')).upCommand(io, home, flags)));
  command('down', 'stop the service; open tasks go on when it is up again').action(async (flags) =>
    done(await (await import('./up.js')).downCommand(io, home, flags.json === true)),
  );
  command('run', 'start a task and follow it')
    .argument('[prompt]', 'what to do')
    .option('-w, --workspace <dir>', 'folder to work in (default: the current one)')
    .option('-m, --model <id>', 'model')
    .option('--yolo', 'ask for nothing inside the workspace, commands included')
    .option(
      '--approve <list>',
      'what runs unasked: read, read-outside, edit, edit-outside, safe, all, mcp; none',
      parseApprovals,
    )
    .option('--max-turns <n>', 'end after so many turns', parseCount('--max-turns'))
    .option('--max-time <duration>', 'end after so long, such as 90s, 30m, 2h', parseDuration('--max-time'))
    .option('--detach', 'start it and return')
    .option('--on-ask <what>', 'without a terminal: wait, exit (code 3) or default', parseOneOf('--on-ask', ON_ASK))
    .option('--prompt-file <file>', 'read the prompt from a file; - is stdin')
    .action(async (prompt, flags) => done(await (await import('./run.js')).runCommand(io, home, prompt, flags)));
  command('attach', 'show a task and follow it')
    .argument('<task>', 'id of a task, or a beginning of it', parseTask)
    .option('--from <seq>', 'first event to show', parseCount('--from'))
    .option('--on-ask <what>', 'without a terminal: wait, exit (code 3) or default', parseOneOf('--on-ask', ON_ASK))
    .action(async (task, flags) => done(await (await import('./attach.js')).attachCommand(io, home, task, flags)));
  command('log', "print a task's log")
    .argument('<task>', 'id of a task, or a beginning of it', parseTask)
    .option('--from <seq>', 'first event to show', parseCount('--from'))
    .option('-f, --follow', 'go on until the task ends')
    .action(async (task, flags) => done(await (await import('./log.js')).logCommand(io, home, task, flags)));
  command('answer', 'answer an ask: answer ID [ASK] yes|no|"TEXT"')
    .argument('<task>', 'id of a task, or a beginning of it', parseTask)
    .usage('[options] <task> [ask] <answer>')
    .argument('[answer...]', 'ask id where needed, then yes, no, the number of an option, or a text')
    .option('--text <text>', 'something to say with yes or no, or the answer as it stands')
    .action(async (task, words, flags) =>
      done(await (await import('./answer.js')).answerCommand(io, home, task, words, flags)),
    );
  command('send', 'leave a message for a task; an ended task goes on with it')
    .argument('<task>', 'id of a task, or a beginning of it', parseTask)
    .argument('<text>')
    .action(async (task, text, flags) =>
      done(await (await import('./send.js')).sendCommand(io, home, task, text, flags.json === true)),
    );
  command('abort', 'cancel a task')
    .argument('<task>', 'id of a task, or a beginning of it', parseTask)
    .action(async (task, flags) =>
      done(await (await import('./abort.js')).abortCommand(io, home, task, flags.json === true)),
    );
  command('tasks', 'list tasks')
    .option('--status <status>', 'only those', parseStatus)
    .option('--limit <n>', 'at most so many', parseCount('--limit'))
    .action(async (flags) => done(await (await import('./tasks.js')).tasksCommand(io, home, flags)));
  command('show', "a task's state, open asks and totals")
    .argument('<task>', 'id of a task, or a beginning of it', parseTask)
    .action(async (task, flags) =>
      done(await (await import('./show.js')).showCommand(io, home, task, flags.json === true)),
    );
  command('worker', 'run a worker here')
    .option('--role <role>', 'all, workflow or host', parseOneOf('--role', ROLES))
    .option('--host <id>', 'name of this host')
    .action(async (flags) => done(await (await import('./worker.js')).workerCommand(io, home, flags)));
  command('doctor', 'what is there: versions, Temporal, journal, provider').action(async (flags) =>
    done(await (await import('./doctor.js')).doctorCommand(io, home, flags.json === true)),
  );
  return program;
}

/**
 * Commander's complaint as an error of ours; undefined when it only printed help or the version.
 *
 * @param word the command that was named
 */
export function usageError(err: CommanderError, program: Command, word?: string): LonghaulError | undefined {
  if (err.exitCode === 0) return undefined;
  if (err.code === 'commander.help') return badFlag('There is no command.', '`longhaul --help` lists the commands.');
  const message = err.message
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(/\.$/, '');
  const meant = suggestion(err, program, word);
  return badFlag(
    `${message.charAt(0).toUpperCase()}${message.slice(1)}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
    '`longhaul --help` lists the commands, `longhaul COMMAND --help` its flags.',
  );
}

/** A flag that lets everything happen is not for typing errors. */
const NOT_SUGGESTED = '--yolo';

function suggestion(err: CommanderError, program: Command, word: string | undefined): string | undefined {
  const unknown = /'(.+)'/.exec(err.message)?.[1] ?? '';
  if (err.code === 'commander.unknownCommand') {
    return nearest(
      unknown,
      program.commands.map((one) => one.name()),
    );
  }
  if (err.code !== 'commander.unknownOption' || !unknown.startsWith('--')) return undefined;
  const { options } = program.commands.find((one) => one.name() === word) ?? program;
  const flags = options.flatMap(({ long }) => (long && long !== NOT_SUGGESTED ? [long.slice(2)] : []));
  const near = nearest(unknown.slice(2), flags);
  return near === undefined ? undefined : `--${near}`;
}

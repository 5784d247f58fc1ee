import { Command, type CommanderError } from 'commander';
import { LonghaulError } from '../domain/errors.js';
import { MODES } from '../domain/modes.js';
import { nearest } from '../domain/nearest.js';
import { TOOL_PROTOCOLS } from '../domain/settings.js';
import { packageVersion } from '../service/package.js';
import { longhaulHome } from '../settings/paths.js';
import {
  badFlag,
  collectFiles,
  ON_ASK,
  parseApprovals,
  parseAskTime,
  parseCount,
  parseDuration,
  parseMoney,
  parseOneOf,
  parsePercent,
  parseStatus,
  parseTask,
  ROLES,
  SHELLS,
} from './flags.js';
import { commandHelp, helpWidth, programHelp } from './help.js';
import type { Io } from './io.js';
import { lifeCommands } from './life-commands.js';

const LIFE_COMMANDS = ['resume', 'pause', 'unpause', 'mode', 'budget', 'rewind'];

/** Commands that decide for people, or for their money; `profile save` and `profile remove` among them. */
const FOR_PEOPLE = ['run', 'answer', 'send', 'abort', 'down', ...LIFE_COMMANDS, 'save', 'remove'];

/** A task must not answer its own asks: its commands carry a mark. What removes the mark is stopped by a sandbox only. */
function refuseInsideTask(io: Io, name: string): void {
  if (!io.env.LONGHAUL_CALL || !FOR_PEOPLE.includes(name)) return;
  throw new LonghaulError(
    'inside-task',
    `\`${name}\` was called by a command of task ${io.env.LONGHAUL_TASK ?? '?'}.`,
    {
      kept: 'Nothing was started or changed.',
      next: 'Call it from a terminal of your own.',
    },
  );
}

/** Commands that use the running service; `up` says for itself what it finds. */
const USE_SERVICE = ['run', 'attach', 'answer', 'send', 'abort', ...LIFE_COMMANDS];

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
      getOutHelpWidth: () => helpWidth(io),
    })
    .configureHelp({
      minWidthToWrap: 20,
      subcommandTerm: (one) => `${one.name()} ${one.usage().replace(/^\[options\] ?/, '')}`.trimEnd(),
    })
    .addHelpText('after', () => programHelp(io))
    .hook('preAction', async (_program, action) => {
      refuseInsideTask(io, action.name());
      await noteService(io, home, action.name());
    });
  const command = (usage: string, about: string) =>
    program
      .command(usage)
      .description(about)
      .option('--json', 'machine-readable output')
      .allowExcessArguments(false)
      .addHelpText('after', commandHelp(io, usage));

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
    .option('--profile <name>', 'provider settings saved with `profile save`')
    .option('--yolo', 'ask for nothing inside the workspace, commands included')
    .option(
      '--approve <list>',
      'what runs unasked: read, read-outside, edit, edit-outside, safe, all, mcp; none',
      parseApprovals,
    )
    .option('--max-turns <n>', 'end after so many turns', parseCount('--max-turns'))
    .option('--max-cost <usd>', 'end before it costs more', parseMoney('--max-cost'))
    .option('--max-tokens <n>', 'end before it uses more, of all kinds', parseCount('--max-tokens', 1e12))
    .option('--max-time <duration>', 'end after so long, such as 90s, 30m, 2h', parseDuration('--max-time'))
    .option('--soft-limit <percent>', 'ask once so much of a limit is used', parsePercent('--soft-limit'))
    .option('--mode <mode>', 'plan: agree on a plan first; act (default)', parseOneOf('--mode', MODES))
    .option('--plan-model <model>', 'model of plan mode (default: the same)')
    .option(
      '--protocol <how>',
      'how tools are called: auto (default), native, text',
      parseOneOf('--protocol', TOOL_PROTOCOLS),
    )
    .option(
      '--ask-deadline <duration>',
      'a question nobody answers ends after so long, such as 12h, 3d',
      parseAskTime('--ask-deadline'),
    )
    .option(
      '--ask-default <answer>',
      'what it ends with: yes or no (default)',
      parseOneOf('--ask-default', ['yes', 'no']),
    )
    .option('--ask-remind <duration>', 'say again that it is open, every so often', parseAskTime('--ask-remind'))
    .option('--image <file>', 'an image that goes with the prompt; may be repeated', collectFiles)
    .option('--file <file>', 'a text file that goes with it; may be repeated', collectFiles)
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
    .option('--full', 'all of prompts, diffs and outputs')
    .action(async (task, flags) => done(await (await import('./log.js')).logCommand(io, home, task, flags)));
  command('answer', 'answer an ask: yes, no, a number or "TEXT"')
    .argument('<task>', 'id of a task, or a beginning of it', parseTask)
    .usage('[options] <task> [ask] <answer>')
    .argument('[answer...]', 'ask id where needed, then yes, no, the number of an option, or a text')
    .option('--text <text>', 'something to say with yes or no, or the answer as it stands')
    .option('--profile <name>', 'after a failed model request: the provider settings to go on with')
    .option('--image <file>', 'an image that goes with it; may be repeated', collectFiles)
    .option('--file <file>', 'a text file that goes with it; may be repeated', collectFiles)
    .action(async (task, words, flags) =>
      done(await (await import('./answer.js')).answerCommand(io, home, task, words, flags)),
    );
  command('send', 'leave a message for a task; an ended task goes on with it')
    .argument('<task>', 'id of a task, or a beginning of it', parseTask)
    .argument('<text>', 'what to tell the model; put quotes around it')
    .option('--image <file>', 'an image that goes with it; may be repeated', collectFiles)
    .option('--file <file>', 'a text file that goes with it; may be repeated', collectFiles)
    .action(async (task, text, flags) =>
      done(await (await import('./send.js')).sendCommand(io, home, task, text, flags)),
    );
  command('abort', 'cancel a task')
    .argument('<task>', 'id of a task, or a beginning of it', parseTask)
    .option('--force', 'end it at once, without a worker')
    .action(async (task, flags) => done(await (await import('./abort.js')).abortCommand(io, home, task, flags)));
  lifeCommands(command, io, home, done);
  command('tasks', 'list tasks')
    .option('--status <status>', 'only those', parseStatus)
    .option('--limit <n>', 'at most so many', parseCount('--limit'))
    .action(async (flags) => done(await (await import('./tasks.js')).tasksCommand(io, home, flags)));
  command('show', "a task's state, open asks and totals")
    .argument('<task>', 'id of a task, or a beginning of it', parseTask)
    .action(async (task, flags) =>
      done(await (await import('./show.js')).showCommand(io, home, task, flags.json === true)),
    );
  profileCommands(program, io, home, done);
  command('worker', 'run a worker here')
    .option('--role <role>', 'all, workflow or host', parseOneOf('--role', ROLES))
    .option('--host <id>', 'name of this host')
    .action(async (flags) => done(await (await import('./worker.js')).workerCommand(io, home, flags)));
  command('doctor', 'what is there, what is missing, and what to do')
    .option('--offline', 'do not ask the model provider')
    .action(async (flags) => done(await (await import('./doctor.js')).doctorCommand(io, home, flags)));
  program
    .command('demo')
    .description('see a small project repaired by a scripted model; needs no key')
    .allowExcessArguments(false)
    .addHelpText('after', commandHelp(io, 'demo'))
    .action(async () => done(await (await import('./demo.js')).demo([], io)));
  command('completion', 'print what makes a shell complete commands, flags and task ids')
    .argument('<shell>', 'bash, zsh or fish', parseOneOf('completion', SHELLS))
    .action(async (shell, flags) =>
      done((await import('./completion.js')).completionCommand(io, shell, flags.json === true)),
    );
  program
    .command('__complete', { hidden: true })
    .argument('<shell>', 'who asks', parseOneOf('__complete', SHELLS))
    .argument('[words...]', 'of the command line, up to the one to complete')
    .action(async (shell, words) =>
      done(await (await import('./completion.js')).completeCommand(io, home, program, shell, words)),
    );
  return program;
}

function profileCommands(program: Command, io: Io, home: string, done: (code: number) => void): void {
  const group = program
    .command('profile')
    .description('named provider settings: save, list, show, remove')
    .addHelpText('after', commandHelp(io, 'profile'));
  const command = (usage: string, about: string) =>
    group
      .command(usage)
      .description(about)
      .option('--json', 'machine-readable output')
      .allowExcessArguments(false)
      .addHelpText('after', commandHelp(io, `profile ${usage}`));
  const load = () => import('./profile.js');

  command('save', "store this shell's ANTHROPIC_* settings under a name")
    .argument('<name>', '`default` is used where a shell has none')
    .option('--key-stdin', 'read the key from standard input')
    .action(async (name, flags) => done(await (await load()).saveCommand(io, home, name, flags)));
  command('list', 'list them, and say which one this shell uses').action(async (flags) =>
    done(await (await load()).listCommand(io, home, flags.json === true)),
  );
  command('show', 'what one holds, without its key')
    .argument('<name>')
    .action(async (name, flags) => done(await (await load()).showProfileCommand(io, home, name, flags.json === true)));
  command('remove', 'remove one that no open task uses')
    .argument('<name>')
    .option('--force', 'also while an open task uses it')
    .action(async (name, flags) => done(await (await load()).removeCommand(io, home, name, flags)));
}

/**
 * Commander's complaint as an error of ours; undefined when it only printed help or the version.
 *
 * @param word the command that was named
 */
export function usageError(err: CommanderError, program: Command, word?: string): LonghaulError | undefined {
  // without a command there is its help, which says all
  if (err.exitCode === 0 || err.code === 'commander.help') return undefined;
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

/** The error with the help of the command that was called, where its hint names the help of any. */
export function namingHelp(err: LonghaulError, program: Command, argv: readonly string[]): LonghaulError {
  if (!err.next?.includes('`longhaul COMMAND --help`')) return err;
  const path: string[] = [];
  let command = program;
  for (const word of argv) {
    if (word.startsWith('-')) break;
    const below = command.commands.find((one) => one.name() === word);
    if (!below) break;
    path.push(word);
    command = below;
  }
  if (path.length === 0) return err;
  const what = command.commands.length > 0 ? 'lists its commands' : 'has its arguments, flags and examples';
  const next = `\`longhaul ${path.join(' ')} --help\` ${what}.`;
  return new LonghaulError(err.slug, err.message, { ...(err.kept && { kept: err.kept }), next, cause: err });
}

/** A flag that lets everything happen is not for typing errors. */
const NOT_SUGGESTED = '--yolo';

function suggestion(err: CommanderError, program: Command, word: string | undefined): string | undefined {
  const unknown = /'(.+)'/.exec(err.message)?.[1] ?? '';
  if (err.code === 'commander.unknownCommand') {
    const group = program.commands.find((one) => one.name() === word) ?? program;
    return nearest(
      unknown,
      group.commands.map((one) => one.name()),
    );
  }
  if (err.code !== 'commander.unknownOption' || !unknown.startsWith('--')) return undefined;
  const { options } = program.commands.find((one) => one.name() === word) ?? program;
  const flags = options.flatMap(({ long }) => (long && long !== NOT_SUGGESTED ? [long.slice(2)] : []));
  const near = nearest(unknown.slice(2), flags);
  return near === undefined ? undefined : `--${near}`;
}

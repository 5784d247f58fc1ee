import type { Command } from 'commander';
import { MODES } from '../domain/modes.js';
import { ON_ASK, parseCount, parseDuration, parseMoney, parseOneOf, parsePercent, parseTask } from './flags.js';
import type { Io } from './io.js';

/** The commands that stop, change or take up a task that is there; the registering function adds what all commands have. */
export function lifeCommands(
  command: (usage: string, about: string) => Command,
  io: Io,
  home: string,
  done: (code: number) => void,
): void {
  const task = ['<task>', 'id of a task, or a beginning of it', parseTask] as const;
  command('resume', 'take an ended task up again, and follow it')
    .argument(...task)
    .argument('[text]', 'what to tell the model; put quotes around it')
    .option('--detach', 'take it up and return')
    .option('--on-ask <what>', 'without a terminal: wait, exit (code 3) or default', parseOneOf('--on-ask', ON_ASK))
    .action(async (id, text, flags) =>
      done(await (await import('./resume.js')).resumeCommand(io, home, id, text, flags)),
    );
  command('pause', 'keep a task from going on: no new request, no new call')
    .argument(...task)
    .action(async (id, { json }) => done(await (await import('./pause.js')).pauseCommand(io, home, id, true, json)));
  command('unpause', 'let a paused task go on')
    .argument(...task)
    .action(async (id, { json }) => done(await (await import('./pause.js')).pauseCommand(io, home, id, false, json)));
  command('mode', 'switch a task between planning and acting')
    .argument(...task)
    .argument('<mode>', 'plan or act', parseOneOf('mode', MODES))
    .action(async (id, mode, { json }) =>
      done(await (await import('./mode.js')).modeCommand(io, home, id, mode, json)),
    );
  command('budget', "show a task's limits and their use, or change them")
    .argument(...task)
    .option('--max-turns <n>', 'end after so many turns in all', parseCount('--max-turns'))
    .option('--no-max-turns', 'no such limit')
    .option('--max-cost <usd>', 'end before it has cost more', parseMoney('--max-cost'))
    .option('--no-max-cost', 'no such limit')
    .option('--max-tokens <n>', 'end before it has used more, of all kinds', parseCount('--max-tokens', 1e12))
    .option('--no-max-tokens', 'no such limit')
    .option('--max-time <duration>', 'end when this run has gone on so long', parseDuration('--max-time'))
    .option('--no-max-time', 'no such limit')
    .option('--soft-limit <percent>', 'ask once so much of a limit is used', parsePercent('--soft-limit'))
    .option('--no-soft-limit', 'do not ask')
    .action(async (id, flags) => done(await (await import('./budget.js')).budgetCommand(io, home, id, flags)));
  command('rewind', 'take the conversation back to a message, or list the messages')
    .argument(...task)
    .argument('[message]', 'number or id of the message that becomes the last one')
    .argument('[text]', 'what to tell the model then; put quotes around it')
    .action(async (id, message, text, { json }) =>
      done(await (await import('./rewind.js')).rewindCommand(io, home, id, message, text, json)),
    );
}

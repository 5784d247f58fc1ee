import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CallKey, TaskId } from '../domain/ids.js';
import { lookAt } from './claim.js';
import { cancelBeforeStart, concludeLost, endWithoutRunner } from './conclude.js';
import { errorCode, files, nameOf, readExit, readSpec, requestCancel, taskDir } from './layout.js';
import { endProcesses } from './processes.js';

export interface CommandRef {
  task: TaskId;
  call: CallKey;
  dir: string;
}

/** How long runners get to end their commands before it is done without them, ms. */
const RUNNER_LIMIT_MS = 4000;
const POLL_MS = 25;

/**
 * Ends commands with all their processes, also those they left in the background: at the end of a task, or from
 * anywhere else. No worker and no runner has to be alive. Takes at most about 10 s; normally as long as the processes
 * take to obey.
 *
 * @returns how many commands were running, and how many processes could not be ended
 */
export async function endCommands(options: {
  commandsDir: string;
  match: (command: Pick<CommandRef, 'task' | 'call'>) => boolean;
}): Promise<{ ended: number; left: number }> {
  return endAll(listCommands(options.commandsDir).filter(options.match));
}

async function endAll(commands: CommandRef[]): Promise<{ ended: number; left: number }> {
  if (commands.length === 0) return { ended: 0, left: 0 };
  const running = commands.filter(({ dir }) => !existsSync(files.exit(dir)));
  await Promise.all(running.map(({ dir }) => endRunning(dir)));
  const marks = new Set(commands.map(({ task, call }) => `${call} ${task}`));
  const left = await endProcesses({ marked: ({ call, task }) => marks.has(`${call} ${task}`) });
  return { ended: running.length, left };
}

async function endRunning(dir: string): Promise<void> {
  const spec = readSpec(dir);
  if (spec === undefined) return;
  requestCancel(dir);
  for (const limit = Date.now() + RUNNER_LIMIT_MS; ; ) {
    switch (lookAt(dir, spec).state) {
      case 'ended':
        return;
      case 'waiting':
        cancelBeforeStart(dir);
        break;
      case 'lost':
        await concludeLost(dir, spec);
        break;
      case 'running':
        if (Date.now() > limit) await endWithoutRunner(dir, spec);
        else await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

/** How long the folders of closed tasks are kept, ms. */
export const KEEP_COMMANDS_MS = 7 * 24 * 3600 * 1000;

/**
 * Cleans up after crashes: ends everything that belongs to tasks that are not open, ends what dead runners have left in
 * open ones, and removes old folders of closed tasks. A folder of an open task stays: without it its command would
 * run again.
 *
 * @returns how many commands were ended, and how many folders removed
 */
export async function sweepCommands(options: {
  commandsDir: string;
  isOpen: (task: TaskId) => boolean | Promise<boolean>;
  /** ms */
  keep?: number;
  /** ms since the epoch */
  now?: number;
}): Promise<{ ended: number; removed: number }> {
  const { commandsDir, isOpen, keep = KEEP_COMMANDS_MS, now = Date.now() } = options;
  const closed: CommandRef[] = [];
  let lost = 0;
  for (const task of listTasks(commandsDir)) {
    const commands = listTaskCommands(commandsDir, task);
    if (await isOpen(task)) lost += await concludeAllLost(commands);
    else closed.push(...commands);
  }
  const { ended } = await endAll(closed);
  let removed = 0;
  for (const { dir } of closed) {
    const exit = readExit(dir);
    if (exit === undefined || now - exit.ended < keep) continue;
    rmSync(dir, { recursive: true, force: true });
    removed++;
    if (names(dirname(dir)).length === 0) rmSync(dirname(dir), { recursive: true, force: true });
  }
  return { ended: ended + lost, removed };
}

async function concludeAllLost(commands: CommandRef[]): Promise<number> {
  let count = 0;
  for (const { dir } of commands) {
    const spec = existsSync(files.exit(dir)) ? undefined : readSpec(dir);
    if (spec === undefined || lookAt(dir, spec).state !== 'lost') continue;
    await concludeLost(dir, spec);
    count++;
  }
  return count;
}

/** Ends the commands of a task and removes all that is kept of them. Only for tasks that will not run again. */
export async function removeCommands(commandsDir: string, task: TaskId): Promise<void> {
  await endAll(listTaskCommands(commandsDir, task));
  rmSync(taskDir(commandsDir, task), { recursive: true, force: true });
}

/** All commands of which there is a folder. */
export function listCommands(commandsDir: string): CommandRef[] {
  return listTasks(commandsDir).flatMap((task) => listTaskCommands(commandsDir, task));
}

function listTasks(commandsDir: string): TaskId[] {
  return names(commandsDir).map(nameOf);
}

function listTaskCommands(commandsDir: string, task: TaskId): CommandRef[] {
  const folder = taskDir(commandsDir, task);
  return names(folder).map((name) => ({ task, call: nameOf(name), dir: join(folder, name) }));
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return [];
    throw err;
  }
}

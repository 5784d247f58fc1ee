import { existsSync } from 'node:fs';
import type { CallKey, TaskId } from '../domain/ids.js';
import { commandDir } from '../runner/layout.js';
import { disown, NOBODY, readOwner } from '../runner/owner.js';
import { listProcesses } from '../runner/processes.js';
import { endCommands } from '../runner/sweep.js';
import type { RunHistory } from './history.js';

/** What Temporal says of a task's runs. */
export interface RunLookup {
  /** The open run; undefined when there is none. */
  current(task: TaskId): Promise<string | undefined>;
  history(task: TaskId, run: string): Promise<Pick<RunHistory, 'before' | 'calls'>>;
}

export interface RunSweeperOptions {
  commandsDir: string;
  /** Only commands of such tasks are looked at: those of closed ones are ended in any case. */
  isOpen: (task: TaskId) => Promise<boolean>;
  lookup: RunLookup;
}

interface Command {
  task: TaskId;
  call: CallKey;
  dir: string;
}

/** What was found about a command when a certain run was the newest, and its owner a certain one. */
interface Look {
  run: string;
  owner: number;
  verdict: 'kept' | 'left_over';
}

/**
 * Ends what runs left running that a reset has replaced: Temporal's Reset runs no cleanup. A command belongs to the task
 * as long as the run it was started in is among those that led to the newest one, or the call is in the history of one
 * of them, copied from the old run. Only what is found left over in two looks in a row is ended, and only if no run
 * attaches to it before.
 */
export class RunSweeper {
  private looks = new Map<string, Look>();

  constructor(private readonly options: RunSweeperOptions) {}

  /** @returns how many commands were ended */
  async sweep(): Promise<number> {
    const looks = new Map<string, Look>();
    const condemned = new Set<string>();
    for (const [task, commands] of livingCommands(this.options.commandsDir)) {
      // what cannot be found out now is looked at again the next time
      const found = await this.lookAt(task, commands).catch(() => []);
      for (const { command, look } of found) {
        if (look === 'end') condemned.add(command.dir);
        else looks.set(command.dir, look);
      }
    }
    this.looks = looks;
    if (condemned.size === 0) return 0;
    const { commandsDir } = this.options;
    const match = ({ task, call }: Pick<Command, 'task' | 'call'>) =>
      condemned.has(commandDir(commandsDir, task, call));
    await endCommands({ commandsDir, match });
    return condemned.size;
  }

  private async lookAt(
    task: TaskId,
    commands: readonly Command[],
  ): Promise<{ command: Command; look: Look | 'end' }[]> {
    const { isOpen, lookup } = this.options;
    const owned = commands.filter(({ dir }) => readOwner(dir).run !== undefined);
    if (owned.length === 0 || !(await isOpen(task))) return [];
    const run = await lookup.current(task);
    if (run === undefined) return [];
    const found: { command: Command; look: Look | 'end' }[] = [];
    for (const command of owned) {
      const look = await this.judge(command, run);
      if (look) found.push({ command, look });
    }
    return found;
  }

  /** @returns undefined for a command of the newest run itself */
  private async judge(command: Command, run: string): Promise<Look | 'end' | undefined> {
    const owner = readOwner(command.dir);
    if (owner.run === NOBODY) return 'end';
    if (owner.run === undefined || owner.run === run) return undefined;
    const before = this.looks.get(command.dir);
    const same = before?.run === run && before.owner === owner.number;
    if (same && before.verdict === 'kept') return before;
    const known = before?.verdict === 'kept' && before.owner === owner.number ? [before.run] : [];
    const verdict = (await this.isKept(command, run, [owner.run, ...known])) ? 'kept' : 'left_over';
    if (same && verdict === 'left_over' && disown(command.dir, owner)) return 'end';
    return { run, owner: owner.number, verdict };
  }

  /** Goes back from the newest run. @param ours runs that the command is known to belong to */
  private async isKept({ task, call }: Command, newest: string, ours: readonly string[]): Promise<boolean> {
    for (let run: string | undefined = newest; run !== undefined; ) {
      if (ours.includes(run)) return true;
      const { calls, before }: Pick<RunHistory, 'before' | 'calls'> = await this.options.lookup.history(task, run);
      if (calls.has(call)) return true;
      run = before;
    }
    return false;
  }
}

/** Commands of this home of which a process lives, by task. */
function livingCommands(commandsDir: string): Map<TaskId, Command[]> {
  const seen = new Set<string>();
  const found = new Map<TaskId, Command[]>();
  for (const { task, call } of listProcesses()) {
    if (task === undefined || call === undefined || seen.has(`${call} ${task}`)) continue;
    seen.add(`${call} ${task}`);
    const dir = folderOf(commandsDir, task, call);
    if (dir !== undefined) found.set(task, [...(found.get(task) ?? []), { task, call, dir }]);
  }
  return found;
}

/** The marks are a process's own word: they need not name anything of ours. */
function folderOf(commandsDir: string, task: TaskId, call: CallKey): string | undefined {
  try {
    const dir = commandDir(commandsDir, task, call);
    return existsSync(dir) ? dir : undefined;
  } catch {
    return undefined;
  }
}

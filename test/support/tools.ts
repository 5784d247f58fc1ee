import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Journal } from '../../src/journal/journal.js';
import type { Prepared, RunContext, Tool, ToolOutcome } from '../../src/tools/tool.js';
import { ToolError } from '../../src/tools/tool.js';
import { taskOf, tempHome, testJournal } from './journal.js';

/** A folder that is removed when the test ends, by its real path. */
export async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'longhaul-workspace-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export interface Bench {
  workspace: string;
  home: string;
  journal: Journal;
  /** Runs a tool as an activity does: claims the call, and makes an error result of a ToolError. */
  run(tool: Tool, args: Record<string, unknown>, more?: Partial<RunContext>): Promise<ToolOutcome>;
  prepare(tool: Tool, args: Record<string, unknown>): Promise<Prepared>;
}

/** A workspace, a journal, and everything allowed inside the workspace. */
export async function toolBench(): Promise<Bench> {
  const [workspace, home] = [await tempFolder(), await tempHome()];
  const journal = await testJournal({ home });
  await journal.createTask(taskOf('t'));
  let calls = 0;
  const run: Bench['run'] = async (tool, args, more = {}) => {
    const call = more.call ?? `turn:${++calls}`;
    const execution = more.execution ?? (await journal.claimCall('t', call));
    const ctx = { ...runContext(workspace, home, journal, call, execution), ...more };
    try {
      return await tool.run(args, ctx);
    } catch (err) {
      if (!(err instanceof ToolError)) throw err;
      return { status: 'error', text: err.message, mistake: err.mistake };
    }
  };
  const prepare: Bench['prepare'] = (tool, args) =>
    tool.prepare(args, { workspace, journal, signal: new AbortController().signal });
  return { workspace, home, journal, run, prepare };
}

export function runContext(
  workspace: string,
  home: string,
  journal: Journal,
  call: string,
  execution: number,
): RunContext {
  return {
    workspace,
    journal,
    signal: new AbortController().signal,
    task: 't',
    turn: 'turn',
    call,
    execution,
    policy: { yolo: true, approve: [] },
    approved: undefined,
    commandsDir: join(home, 'commands'),
    stopKind: () => 'detach',
    partial: () => undefined,
  };
}

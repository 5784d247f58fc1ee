import { existsSync } from 'node:fs';
import type { ApprovalNeed, PreparedCall, ToolRun } from '../domain/calls.js';
import type { CallKey } from '../domain/ids.js';
import { isApproved } from '../domain/policy.js';
import { cut, oneLine } from '../domain/text.js';
import type { ToolInput } from '../domain/turn.js';
import { type Journal, Superseded } from '../journal/journal.js';
import type { NewEvent, NewResult, ToolResultRow } from '../journal/rows.js';
import { outputStream } from '../journal/streams.js';
import { EDIT_IN_PLAN_MODE } from '../prompts/notices.js';
import { commandDir, files } from '../runner/layout.js';
import { homePaths } from '../settings/paths.js';
import { findTool, parseArguments } from '../tools/registry.js';
import { type Prepared, type RunContext, type Tool, ToolError, type ToolOutcome } from '../tools/tool.js';
import { type ActivityDeps, currentRun, dispatchOrder } from './context.js';
import { callBlock } from './prepare-call.js';
import type { Stop } from './stop.js';

/** Tools that are shown as the command that they run; a completion comes here only with one. */
const RUN_COMMANDS: readonly string[] = ['execute_command', 'attempt_completion'];

/** Longest text of a result that the task log shows; the whole of it is in the conversation. */
const MAX_SHOWN = 16_000;

/**
 * Runs one call, once: a result that is stored already is returned; an execution that began before a crash is taken up
 * by the tool according to its effect class. The result is stored before the workflow hears of it.
 */
export async function runTool(input: ToolInput, deps: ActivityDeps, stop: Stop): Promise<ToolRun> {
  const { journal } = deps;
  const stored = await storedRun(input.call, journal);
  if (stored) return stored;
  const { tool, args } = toolOf(input, (await callBlock(journal, input.call)).input);
  const started = Date.now();
  const execution = await journal.claimCall(input.task, input.call, dispatchOrder(), currentRun());
  const outcome = await outcomeOf(tool, stop, async () => {
    // An intent is written after this check, and the file may no longer fit the call once it has been carried out.
    // The same goes for a command that was started: it is attached to.
    const isBegun = (await journal.getIntent(input.call)) !== undefined || isStarted(input, deps);
    if (!isBegun) {
      const { workspace, policy } = input;
      const prepared = await tool.prepare(args, { workspace, journal, signal: stop.signal, policy });
      checkMode(prepared.approval, input);
      checkApproval(prepared, input);
      await journal.append(input.task, [begun(input, prepared.summary)]);
    }
    return tool.run(args, context(input, execution, deps, stop));
  });
  const result = await resultOf(input, outcome, Date.now() - started, journal);
  return summaryOf(await journal.putResult(result.row, result.events, execution));
}

/**
 * Runs a call of a tool that is `early`, just prepared and allowed by the policy. It needs no claim: running it twice
 * changes nothing, and the first result that is stored counts.
 *
 * @param args as the model gave them
 * @returns the result, not stored yet, with the event that the call has begun
 */
export async function runEarly(
  call: PreparedCall,
  args: Record<string, unknown>,
  input: ToolInput,
  deps: ActivityDeps,
  stop: Stop,
): Promise<NewResult> {
  const { tool, args: parsed } = toolOf(input, args);
  const started = Date.now();
  const outcome = await outcomeOf(tool, stop, async () => {
    checkMode(call.approval, input);
    return tool.run(parsed, context(input, 1, deps, stop));
  });
  const { row, events } = await resultOf(input, outcome, Date.now() - started, deps.journal);
  return { row, events: [begun(input, call.summary), ...events] };
}

function toolOf(input: ToolInput, given: Record<string, unknown>): { tool: Tool; args: Record<string, unknown> } {
  const tool = findTool(input.tool);
  if (!tool) throw new Error(`There is no tool ${input.tool} in this worker.`);
  const args = parseArguments(tool, given);
  if ('problem' in args) throw new Error(`The arguments of ${input.call} no longer parse: ${args.problem}`);
  return { tool, args: args.ok };
}

function context(input: ToolInput, execution: number, { journal, home }: ActivityDeps, stop: Stop): RunContext {
  const { task, turn, call, workspace, policy, approved } = input;
  return {
    task,
    run: currentRun(),
    turn,
    call,
    workspace,
    journal,
    execution,
    policy,
    approved,
    commandsDir: homePaths(home).commands,
    signal: stop.signal,
    stopKind: stop.kind,
    partial: (piece) => {
      void journal.addPartial({ task, turn, stream: outputStream(call), attempt: 0, ...piece }).catch(() => undefined);
    },
  };
}

/** What a tool throws, as its outcome; an exception means that this execution is over but the call is not. */
async function outcomeOf(tool: Tool, { signal, kind }: Stop, run: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  try {
    const outcome = await run();
    // its successor says what became of it
    if (outcome.status === 'interrupted' && signal.aborted && kind() === 'detach') throw signal.reason;
    return outcome;
  } catch (err) {
    if (err instanceof ToolError) return { status: 'error', text: err.message, mistake: err.mistake };
    if (err instanceof Superseded || signal.aborted) throw err;
    const code = (err as { code?: unknown }).code;
    if (err instanceof Error && typeof code === 'string' && err.name !== 'LonghaulError') {
      return { status: 'error', text: `${tool.name} failed: ${err.message}` };
    }
    throw err;
  }
}

async function resultOf(
  { call, tool }: ToolInput,
  outcome: ToolOutcome,
  ms: number,
  journal: Journal,
): Promise<NewResult> {
  const text = outcome.text.trim() === '' ? '(no output)' : outcome.text;
  const row: ToolResultRow = {
    call,
    status: outcome.status,
    text: await journal.putText(text),
    excerpt: oneLine(outcome.excerpt ?? text, 200),
    mistake: outcome.mistake ?? false,
  };
  const say = RUN_COMMANDS.includes(tool) ? 'command_output' : 'tool_result';
  const shown = { call, tool, status: outcome.status, text: cut(text, MAX_SHOWN) };
  const change = outcome.change && { change: { ...outcome.change, diff: await journal.putText(outcome.change.diff) } };
  const events: NewEvent[] = [{ event: { type: 'say', say, ...shown, ms, ...change } }];
  if (outcome.slug !== undefined) {
    events.push({ event: { type: 'say', say: 'error', slug: outcome.slug, text: row.excerpt } });
  }
  return { row, events };
}

function isStarted({ task, call }: ToolInput, { home }: ActivityDeps): boolean {
  return existsSync(files.began(commandDir(homePaths(home).commands, task, call)));
}

/** Plan mode is for looking; the mode is that of the turn, whatever it is by now. */
function checkMode({ need }: ApprovalNeed, { noEdits }: ToolInput): void {
  if (noEdits && need === 'edit') throw new ToolError(EDIT_IN_PLAN_MODE);
}

/** The policy once more, where the effect happens: what was judged may since have become another file. */
function checkApproval(prepared: Prepared, input: ToolInput): void {
  const need = prepared.approval;
  if (isApproved(need, input.policy)) return;
  const outside = 'outside' in need && need.outside;
  if (input.approved && (!outside || input.approved.outside)) return;
  throw new ToolError('Not carried out: it needs an approval that was not given.', false);
}

/** Says that a call has begun; once, whoever says it. */
export function begun({ turn, call, tool }: Pick<ToolInput, 'turn' | 'call' | 'tool'>, summary: string): NewEvent {
  const say = RUN_COMMANDS.includes(tool) ? 'command' : 'tool';
  return { key: `${call}:start`, event: { type: 'say', say, turn, call, tool, summary } };
}

/** How a call went that has its result. */
export async function storedRun(call: CallKey, journal: Journal): Promise<ToolRun | undefined> {
  const stored = await journal.getResult(call);
  return stored && summaryOf(stored);
}

export function summaryOf({ status, mistake }: ToolResultRow): ToolRun {
  return { status, mistake };
}

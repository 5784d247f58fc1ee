import type { ToolRun } from '../domain/calls.js';
import type { TaskEvent } from '../domain/events.js';
import { isApproved } from '../domain/policy.js';
import { cut, oneLine } from '../domain/text.js';
import type { ToolInput } from '../domain/turn.js';
import { Superseded, type ToolResultRow } from '../journal/journal.js';
import { homePaths } from '../settings/paths.js';
import { findTool, parseArguments } from '../tools/registry.js';
import { type Prepared, type RunContext, type Tool, ToolError, type ToolOutcome } from '../tools/tool.js';
import { type ActivityDeps, currentRun, dispatchOrder } from './context.js';
import { callBlock } from './prepare-call.js';
import type { Stop } from './stop.js';

/** Longest text of a result that the task log shows; the whole of it is in the conversation. */
const MAX_SHOWN = 16_000;

/**
 * Runs one call, once: a result that is stored already is returned; an execution that began before a crash is taken up
 * by the tool according to its effect class. The result is stored before the workflow hears of it.
 */
export async function runTool(input: ToolInput, deps: ActivityDeps, stop: Stop): Promise<ToolRun> {
  const { journal } = deps;
  const stored = await journal.getResult(input.call);
  if (stored) return summaryOf(stored);
  const tool = findTool(input.tool);
  if (!tool) throw new Error(`There is no tool ${input.tool} in this worker.`);
  const args = parseArguments(tool, (await callBlock(journal, input.call)).input);
  if ('problem' in args) throw new Error(`The arguments of ${input.call} no longer parse: ${args.problem}`);

  const started = Date.now();
  const execution = await journal.claimCall(input.task, input.call, dispatchOrder(), currentRun());
  const outcome = await execute(tool, args.ok, input, execution, deps, stop);
  const text = outcome.text.trim() === '' ? '(no output)' : outcome.text;
  const row: ToolResultRow = {
    call: input.call,
    status: outcome.status,
    text: await journal.putText(text),
    excerpt: oneLine(outcome.excerpt ?? text, 200),
    mistake: outcome.mistake ?? false,
  };
  const say = tool.name === 'execute_command' ? 'command_output' : 'tool_result';
  const shown = { call: input.call, tool: tool.name, status: outcome.status, text: cut(text, MAX_SHOWN) };
  const events: TaskEvent[] = [{ type: 'say', say, ...shown, ms: Date.now() - started }];
  if (outcome.slug !== undefined) events.push({ type: 'say', say: 'error', slug: outcome.slug, text: row.excerpt });
  return summaryOf(await journal.putResult(row, events));
}

async function execute(
  tool: Tool,
  args: Record<string, unknown>,
  input: ToolInput,
  execution: number,
  deps: ActivityDeps,
  { signal, kind }: Stop,
): Promise<ToolOutcome> {
  const { journal } = deps;
  try {
    // An intent is written after this check, and the file may no longer fit the call once it has been carried out.
    if ((await journal.getIntent(input.call)) === undefined) {
      const prepared = await tool.prepare(args, { workspace: input.workspace, journal, signal });
      checkApproval(prepared, input);
      await journal.append(input.task, [{ key: `${input.call}:start`, event: startEvent(tool, prepared, input) }]);
    }
    const context: RunContext = {
      task: input.task,
      run: currentRun(),
      turn: input.turn,
      call: input.call,
      workspace: input.workspace,
      journal,
      execution,
      policy: input.policy,
      approved: input.approved,
      commandsDir: homePaths(deps.home).commands,
      signal,
      stopKind: kind,
      partial: (piece) => {
        const of = { task: input.task, turn: input.turn, stream: `${input.call}:out`, attempt: 0 };
        void journal.addPartial({ ...of, ...piece }).catch(() => undefined);
      },
    };
    return await tool.run(args, context);
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

/** The policy once more, where the effect happens: what was judged may since have become another file. */
function checkApproval(prepared: Prepared, input: ToolInput): void {
  const need = prepared.approval;
  if (isApproved(need, input.policy)) return;
  const outside = 'outside' in need && need.outside;
  if (input.approved && (!outside || input.approved.outside)) return;
  throw new ToolError('Not carried out: it needs an approval that was not given.', false);
}

function startEvent(tool: Tool, prepared: Prepared, input: ToolInput): TaskEvent {
  const say = tool.name === 'execute_command' ? 'command' : 'tool';
  return { type: 'say', say, turn: input.turn, call: input.call, tool: tool.name, summary: prepared.summary };
}

function summaryOf(row: ToolResultRow): ToolRun {
  return { status: row.status, mistake: row.mistake, excerpt: row.excerpt };
}

import type { CallProblem, ToolUseBlock } from '../domain/blocks.js';
import type { PreparedCall } from '../domain/calls.js';
import { LonghaulError, messageOf } from '../domain/errors.js';
import type { CallKey } from '../domain/ids.js';
import { splitCallKey } from '../domain/ids.js';
import type { ApprovalPolicy } from '../domain/policy.js';
import { oneLine } from '../domain/text.js';
import type { TaskRef } from '../domain/turn.js';
import type { Journal } from '../journal/journal.js';
import { findTool, parseArguments, tools } from '../tools/registry.js';
import { CommandDenied, ToolError } from '../tools/tool.js';
import { callFacts } from './call-facts.js';
import type { ActivityDeps } from './context.js';

/**
 * Checks a complete call and finds out what the workflow decides on: approval class, resolved path, preview, base.
 * A call that can never run comes back with its problem, in the block too, so that the conversation can say why.
 */
export async function prepareBlock(
  block: ToolUseBlock,
  key: CallKey,
  place: Pick<TaskRef, 'task' | 'workspace'> & { policy?: ApprovalPolicy },
  journal: Journal,
): Promise<{ block: ToolUseBlock; call: PreparedCall }> {
  const bare: PreparedCall = {
    call: key,
    block: block.block,
    tool: oneLine(block.name, 64),
    effect: 'control',
    approval: { need: 'none' },
    summary: oneLine(block.name, 120),
  };
  const failed = (problem: CallProblem) => ({
    block: { ...block, problem },
    call: { ...bare, problem: problem.kind },
  });
  if (block.problem) return failed(block.problem);
  const tool = findTool(block.name);
  if (!tool) {
    const names = tools.map((one) => one.name).join(', ');
    return failed({ kind: 'unknown_tool', message: `The tools are: ${names}.` });
  }
  const args = parseArguments(tool, block.input);
  if ('problem' in args) return failed({ kind: 'bad_arguments', message: args.problem });
  try {
    const signal = new AbortController().signal;
    const ready = await tool.prepare(args.ok, {
      workspace: place.workspace,
      journal,
      signal,
      ...(place.policy && { policy: place.policy }),
    });
    const call: PreparedCall = {
      ...bare,
      effect: tool.effect,
      approval: ready.approval,
      summary: oneLine(ready.summary, 120),
      ...(await callFacts(block, journal)),
    };
    if (ready.why !== undefined) call.why = oneLine(ready.why, 160);
    if (ready.base !== undefined) call.base = ready.base;
    if (ready.control !== undefined) call.control = ready.control;
    if (ready.preview !== undefined && ready.preview !== '') call.preview = await journal.putText(ready.preview);
    return { block, call };
  } catch (err) {
    if (LonghaulError.is(err)) throw err;
    const message = messageOf(err);
    return failed({
      kind: err instanceof CommandDenied ? 'denied_command' : 'refused_path',
      message: err instanceof ToolError ? message : `It could not be prepared: ${message}`,
    });
  }
}

/** The activity of the same name: see {@link prepareBlock}. */
export async function prepareCall(
  input: TaskRef & { call: string; policy?: ApprovalPolicy },
  { journal }: ActivityDeps,
): Promise<PreparedCall> {
  const block = await callBlock(journal, input.call);
  const { call } = await prepareBlock(block, input.call, input, journal);
  return call;
}

/** The call's block as the model sent it. */
export async function callBlock(journal: Journal, key: CallKey): Promise<ToolUseBlock> {
  const { turn, block } = splitCallKey(key);
  const row = await journal.getTurn(turn);
  const found = row?.blocks.find((one): one is ToolUseBlock => one.type === 'tool_use' && one.block === block);
  if (!found) throw new Error(`The journal holds no call ${key}.`);
  return found;
}

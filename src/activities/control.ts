import type { TextRef } from '../domain/blocks.js';
import type { TaskEvent } from '../domain/events.js';
import type { TaskResult } from '../domain/outcomes.js';
import type { ConversationEnd, RewindPlace } from '../domain/rewind.js';
import type { CallPage, TaskRef } from '../domain/turn.js';
import { placeOfMessage } from '../journal/conversation-end.js';
import { endCommands } from '../runner/sweep.js';
import { homePaths } from '../settings/paths.js';
import { settleLeftChange } from '../workspace/file-changes.js';
import { ranCall } from './call-facts.js';
import { firstPage } from './call-pages.js';
import type { ActivityDeps } from './context.js';
import { storedRun } from './run-tool.js';
import type { CloseInput } from './types.js';

/** Appends to the task log; a repeated execution appends nothing. */
export async function appendLog(
  input: TaskRef & { key: string; events: TaskEvent[] },
  { journal }: ActivityDeps,
): Promise<void> {
  await journal.append(
    input.task,
    input.events.map((event, at) => ({ key: `${input.key}:${at}`, event })),
  );
}

export async function listCalls(
  input: TaskRef & { turn: string; from: number },
  { journal }: ActivityDeps,
): Promise<CallPage> {
  const row = await journal.getTurn(input.turn);
  const left = (row?.calls ?? []).filter((call) => call.block >= input.from);
  const known = left.map(async (call) => {
    const ran = await storedRun(call.call, journal);
    return ran ? ranCall(call, ran) : call;
  });
  return firstPage(await Promise.all(known));
}

/** Where a rewind to that message leads: the n-th of the conversation, or the one with that id. */
export async function findMessage(
  { end, message }: TaskRef & { end: ConversationEnd; message: string },
  { journal }: ActivityDeps,
): Promise<RewindPlace | { problem: string }> {
  return placeOfMessage(journal, end, message);
}

export async function storeText(input: TaskRef & { text: string }, { journal }: ActivityDeps): Promise<TextRef> {
  return journal.putBlob(input.text);
}

export async function closeTask(input: CloseInput, { journal }: ActivityDeps): Promise<TaskResult> {
  await journal.settleLeft(input.task);
  const sums = await journal.totals(input.task);
  const totals = { turns: input.turns, usage: sums.usage, cost: sums.cost };
  const events: TaskEvent[] = input.asks.map((ask) => ({
    type: 'ask_closed',
    ask: ask.id,
    by: 'cancelled',
    answer: 'no',
  }));
  if (input.outcome.outcome === 'completed') {
    events.push({ type: 'say', say: 'completion_result', text: await journal.getText(input.outcome.result) });
  }
  events.push({ type: 'closed', outcome: input.outcome, totals });
  await journal.saveCarried(input.task, JSON.stringify(input.carried));
  await journal.append(
    input.task,
    events.map((event, at) => ({ key: `${input.key}:${at}`, event })),
  );
  return { ...input.outcome, totals };
}

/** Ends what the task's commands left running, and removes what its unfinished edits left in the workspace. */
export async function endProcesses(input: TaskRef, { home, journal }: ActivityDeps): Promise<void> {
  await endCommands({ commandsDir: homePaths(home).commands, match: (spec) => spec.task === input.task });
  for (const intent of await journal.leftIntents(input.task)) settleLeftChange(intent);
}

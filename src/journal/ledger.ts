import type { BudgetCaps, BudgetSpent, BudgetUse } from '../domain/budget.js';
import type { TaskId, TurnKey } from '../domain/ids.js';
import { NO_USAGE, tokensOf } from '../domain/usage.js';
import type { Tx } from './context.js';
import { conflict, lost } from './errors.js';
import type { Reservation, UsageRow } from './rows.js';

/** Output tokens that a request asks for at least: an answer that can be no longer is not worth its input. */
export const MIN_OUTPUT_TOKENS = 1_024;

/** Characters a token has on average, for estimates of text that no provider has counted. */
const CHARS_PER_TOKEN = 4;

/** What settles an attempt that nobody could settle. */
interface Estimate {
  inputTokens: number;
  /** USD */
  inputCost: number;
  /** USD per token */
  outputPrice: number;
}

/** @param claimed what a claim says it is @throws LonghaulError `journal-lost` for an unknown task, `journal-conflict` */
export async function rootOf(tx: Tx, task: TaskId, claimed?: TaskId): Promise<TaskId> {
  const row = await tx.selectFrom('task').select('root').where('id', '=', task).executeTakeFirst();
  if (!row) throw lost(`task ${task}`);
  if (claimed !== undefined && claimed !== row.root) throw conflict(`the root of task ${task}`);
  return row.root;
}

/** What the task's tree has used. @throws LonghaulError `journal-lost` for an unknown task */
export async function useOf(tx: Tx, task: TaskId): Promise<BudgetUse> {
  const row = await tx
    .selectFrom('task')
    .innerJoin('task as root', 'root.id', 'task.root')
    .select(['root.tree_turns as turns', 'root.tree_tokens as tokens', 'root.tree_cost as cost'])
    .where('task.id', '=', task)
    .executeTakeFirst();
  if (!row) throw lost(`task ${task}`);
  return row;
}

/**
 * How many output tokens a request may ask for, so that its tree stays within the caps whatever becomes of it and of the
 * requests that are running: all that was wanted, or what the rest pays.
 */
export async function grant(
  tx: Tx,
  root: TaskId,
  { inputTokens, inputCost, outputPrice, maxTokens: wanted }: Reservation,
  caps: BudgetCaps,
): Promise<{ maxTokens: number } | { spent: BudgetSpent }> {
  const taken = await takenOf(tx, root);
  if (caps.turns !== undefined && taken.turns + 1 > caps.turns) {
    return { spent: { limit: 'turns', used: taken.turns, cap: caps.turns } };
  }
  const least = Math.min(MIN_OUTPUT_TOKENS, wanted);
  let maxTokens = wanted;
  if (caps.cost !== undefined) {
    const rest = caps.cost - taken.cost - inputCost;
    const paid = outputPrice > 0 ? Math.floor(rest / outputPrice) : rest < 0 ? 0 : wanted;
    if (paid < least) return { spent: { limit: 'cost', used: taken.cost, cap: caps.cost } };
    maxTokens = Math.min(maxTokens, paid);
  }
  if (caps.tokens !== undefined) {
    const rest = caps.tokens - taken.tokens - inputTokens;
    if (rest < least) return { spent: { limit: 'tokens', used: taken.tokens, cap: caps.tokens } };
    maxTokens = Math.min(maxTokens, rest);
  }
  return { maxTokens };
}

/** What a tree has used, with the most that its running requests can use; each of these may become a turn. */
async function takenOf(tx: Tx, root: TaskId): Promise<BudgetUse> {
  const used = await useOf(tx, root);
  const open = await tx
    .selectFrom('ledger')
    .select(['tokens', 'cost'])
    .where('root', '=', root)
    .where('settled', '=', 0)
    .execute();
  return {
    turns: used.turns + open.length,
    tokens: open.reduce((sum, { tokens }) => sum + tokens, used.tokens),
    cost: open.reduce((sum, { cost }) => sum + cost, used.cost),
  };
}

/** Sets the most that an attempt can use aside. */
export async function reserve(
  tx: Tx,
  root: TaskId,
  { turn, attempt }: { turn: TurnKey; attempt: number },
  { model, inputTokens, inputCost, outputPrice, maxTokens }: Reservation,
): Promise<void> {
  const estimate: Estimate = { inputTokens, inputCost, outputPrice };
  const tokens = inputTokens + maxTokens;
  const cost = inputCost + maxTokens * outputPrice;
  await tx
    .insertInto('ledger')
    .values({ root, turn, attempt, model, tokens, cost, estimate: JSON.stringify(estimate), settled: 0 })
    .execute();
}

/** Replaces the reservation of an attempt by what it has used. */
export async function settle(tx: Tx, task: TaskId, row: UsageRow): Promise<void> {
  const { turn, attempt, model, usage, cost } = row;
  await tx
    .insertInto('usage')
    .values({
      turn,
      attempt,
      task,
      model,
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      cache_read_tokens: usage.cacheReadTokens,
      cost,
      estimated: row.estimated ? 1 : 0,
      at: Date.now(),
    })
    .execute();
  await tx.updateTable('ledger').set({ settled: 1 }).where('turn', '=', turn).where('attempt', '=', attempt).execute();
  await addUse(tx, task, { turns: 0, tokens: tokensOf(usage), cost });
}

/** Adds to what a task has used, and to the sums of its tree, which stand in the root's row. */
export async function addUse(tx: Tx, task: TaskId, { turns, tokens, cost }: BudgetUse): Promise<void> {
  await tx
    .updateTable('task')
    .set((e) => ({ turns: e('turns', '+', turns), cost: e('cost', '+', cost) }))
    .where('id', '=', task)
    .execute();
  await tx
    .updateTable('task')
    .set((e) => ({
      tree_turns: e('tree_turns', '+', turns),
      tree_tokens: e('tree_tokens', '+', tokens),
      tree_cost: e('tree_cost', '+', cost),
    }))
    .where('id', '=', (e) => e.selectFrom('task as own').select('own.root').where('own.id', '=', task))
    .execute();
}

/** Puts the number of a task's turns right, and with it that of its tree. */
export async function setTurns(tx: Tx, task: TaskId, turns: number): Promise<void> {
  const row = await tx.selectFrom('task').select('turns').where('id', '=', task).executeTakeFirst();
  if (row) await addUse(tx, task, { turns: turns - row.turns, tokens: 0, cost: 0 });
}

/**
 * What an attempt that was left behind has probably used: its input as reserved, and the output that arrived, at most
 * what it had asked for.
 * @param chars UTF-16 units of output
 */
export async function estimated(tx: Tx, turn: TurnKey, attempt: number, chars: number): Promise<UsageRow> {
  const row = await tx
    .selectFrom('ledger')
    .select(['model', 'tokens', 'estimate'])
    .where('turn', '=', turn)
    .where('attempt', '=', attempt)
    .executeTakeFirstOrThrow();
  const { inputTokens, inputCost, outputPrice } = JSON.parse(row.estimate) as Estimate;
  const outputTokens = Math.min(Math.ceil(chars / CHARS_PER_TOKEN), row.tokens - inputTokens);
  return {
    turn,
    attempt,
    model: row.model,
    usage: { ...NO_USAGE, inputTokens, outputTokens },
    cost: inputCost + outputTokens * outputPrice,
    estimated: true,
  };
}

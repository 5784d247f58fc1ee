import type { TurnKey } from '../domain/ids.js';
import { NO_USAGE, type Usage } from '../domain/usage.js';
import type { Context, Tx } from './context.js';
import type { Journal } from './journal.js';
import type { Reservation, UsageRow } from './rows.js';

/** Characters a token has on average, for estimates of text that no provider has counted. */
const CHARS_PER_TOKEN = 4;

type Estimate = NonNullable<Reservation['estimate']>;

export function usageStore(ctx: Context) {
  return {
    async totals(task) {
      return ctx.db.read((tx) => totalsOf(tx, task));
    },
  } satisfies Pick<Journal, 'totals'>;
}

/** What all requests of a task have used and cost so far. */
export async function totalsOf(tx: Tx, task: string): Promise<{ usage: Usage; cost: number; requests: number }> {
  const row = await tx
    .selectFrom('usage')
    .select((e) => [
      e.fn.countAll<number>().as('requests'),
      e.fn.sum<number | null>('input_tokens').as('input'),
      e.fn.sum<number | null>('output_tokens').as('output'),
      e.fn.sum<number | null>('cache_write_tokens').as('cacheWrite'),
      e.fn.sum<number | null>('cache_read_tokens').as('cacheRead'),
      e.fn.sum<number | null>('cost').as('cost'),
    ])
    .where('task', '=', task)
    .executeTakeFirstOrThrow();
  const usage = {
    inputTokens: row.input ?? 0,
    outputTokens: row.output ?? 0,
    cacheWriteTokens: row.cacheWrite ?? 0,
    cacheReadTokens: row.cacheRead ?? 0,
  };
  return { usage, cost: row.cost ?? 0, requests: row.requests };
}

/** Sets the most that an attempt can use aside. */
export async function reserve(tx: Tx, root: string, turn: TurnKey, attempt: number, what: Reservation): Promise<void> {
  const { model, tokens, cost } = what;
  const estimate: Estimate = what.estimate ?? { inputTokens: tokens, inputCost: cost, outputPrice: 0 };
  await tx
    .insertInto('ledger')
    .values({ root, turn, attempt, model, tokens, cost, estimate: JSON.stringify(estimate), settled: 0 })
    .execute();
}

/** Replaces the reservation of an attempt by what it has used. */
export async function settle(tx: Tx, task: string, row: UsageRow): Promise<void> {
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
  await tx
    .updateTable('task')
    .set((e) => ({ cost: e('cost', '+', cost) }))
    .where('id', '=', task)
    .execute();
}

/**
 * What an attempt that was left behind has probably used: the input that was reserved for it and the output that
 * arrived.
 * @param chars UTF-16 units of output
 */
export async function estimated(tx: Tx, turn: TurnKey, attempt: number, chars: number): Promise<UsageRow> {
  const row = await tx
    .selectFrom('ledger')
    .select(['model', 'estimate'])
    .where('turn', '=', turn)
    .where('attempt', '=', attempt)
    .executeTakeFirstOrThrow();
  const { inputTokens, inputCost, outputPrice } = JSON.parse(row.estimate) as Estimate;
  const outputTokens = Math.ceil(chars / CHARS_PER_TOKEN);
  return {
    turn,
    attempt,
    model: row.model,
    usage: { ...NO_USAGE, inputTokens, outputTokens },
    cost: inputCost + outputTokens * outputPrice,
    estimated: true,
  };
}

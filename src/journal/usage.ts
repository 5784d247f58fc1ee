import type { Usage } from '../domain/usage.js';
import type { Context, Tx } from './context.js';
import type { Journal } from './journal.js';
import { useOf } from './ledger.js';

export function usageStore(ctx: Context) {
  return {
    async totals(task) {
      return ctx.db.read((tx) => totalsOf(tx, task));
    },

    async treeUse(task) {
      return ctx.db.read((tx) => useOf(tx, task));
    },
  } satisfies Pick<Journal, 'totals' | 'treeUse'>;
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

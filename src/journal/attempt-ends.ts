import type { TaskEvent } from '../domain/events.js';
import type { TurnKey } from '../domain/ids.js';
import type { StopReason } from '../domain/turn.js';
import type { Context, Tx } from './context.js';
import { addUse, estimated, settle } from './ledger.js';
import { appendEvents } from './log.js';
import { streamed } from './partials.js';
import type { UsageRow } from './rows.js';
import { outputOf, type StoredTurn } from './turn-rows.js';

/** What was streamed of unfinished turns. */
export type Arrived = ReadonlyMap<TurnKey, Awaited<ReturnType<typeof streamed>>>;

/** The attempt is the turn's answer. */
export async function close(
  tx: Tx,
  row: StoredTurn,
  stop: StopReason,
  used: UsageRow,
  closing: string | null,
): Promise<void> {
  const { turn, attempt, task } = row;
  const { usage, cost } = used;
  await settle(tx, task, used);
  await tx
    .updateTable('turn')
    .set({ state: 'closed', stop, usage: JSON.stringify(usage), cost, closing })
    .where('turn', '=', turn)
    .execute();
  await addUse(tx, task, { turns: 1, tokens: 0, cost: 0 });
  const event: TaskEvent = {
    type: 'say',
    say: 'api_req_finished',
    turn,
    attempt,
    stop,
    usage,
    cost,
    ...(used.estimated ? { estimated: true } : {}),
  };
  await appendEvents(tx, task, [{ event }]);
}

/** The attempt is given up: what it has shown and stored is void. */
export async function retract(tx: Tx, row: StoredTurn, reason: string, used: UsageRow): Promise<void> {
  const { turn, attempt, task } = row;
  await settle(tx, task, used);
  await tx.deleteFrom('block').where('turn', '=', turn).where('attempt', '=', attempt).execute();
  await tx.updateTable('turn').set({ retracted: attempt }).where('turn', '=', turn).execute();
  await appendEvents(tx, task, [{ event: { type: 'retract', turn, attempt, reason } }]);
}

/**
 * Ends attempts that were left behind, at what they have probably used. What a committed one has stored is the answer.
 * @param what of the others: void, or the answer as well
 */
export async function settleTurns(
  tx: Tx,
  rows: readonly StoredTurn[],
  arrived: Arrived,
  what: 'keep' | 'void',
  reason = 'its worker was lost',
): Promise<void> {
  for (const row of rows) {
    const chars = await outputOf(tx, row.turn, row.attempt, arrived.get(row.turn) ?? []);
    const used = await estimated(tx, row.turn, row.attempt, chars);
    if (what === 'keep' || row.state === 'committed') await close(tx, row, 'interrupted', used, null);
    else await retract(tx, row, reason, used);
  }
}

/** Turns of the task whose newest attempt nobody has settled. */
export async function unfinished(tx: Tx, task: string): Promise<StoredTurn[]> {
  return tx
    .selectFrom('ledger')
    .innerJoin('task', 'task.root', 'ledger.root')
    .innerJoin('turn', 'turn.turn', 'ledger.turn')
    .selectAll('turn')
    .where('task.id', '=', task)
    .where('ledger.settled', '=', 0)
    .whereRef('turn.task', '=', 'task.id')
    .execute();
}

/** How much has been streamed of them; partials are in a file of their own. */
export async function arriving(ctx: Context, task: string): Promise<Arrived> {
  const rows = await ctx.db.read((tx) => unfinished(tx, task));
  const found = new Map<TurnKey, Awaited<ReturnType<typeof streamed>>>();
  for (const { turn } of rows) found.set(turn, await streamed(ctx, turn));
  return found;
}

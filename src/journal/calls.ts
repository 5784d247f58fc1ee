import type { TextRef } from '../domain/blocks.js';
import type { CallKey } from '../domain/ids.js';
import { splitCallKey } from '../domain/ids.js';
import type { Context, Tx } from './context.js';
import { lost } from './errors.js';
import { type Journal, Superseded } from './journal.js';
import { appendEvents } from './log.js';
import { drop } from './partials.js';
import type { NewResult, ToolResultRow } from './rows.js';
import { outputStream } from './streams.js';
import { checkRun } from './tasks.js';
import { wrote } from './wake.js';

export function callStore(ctx: Context) {
  return {
    async claimCall(task, call, dispatch = 0, run) {
      const row = await ctx.db.write(async (tx) => {
        await checkRun(tx, task, run);
        return tx
          .insertInto('call')
          .values({ call, task, execution: 1, dispatch, intent: null })
          .onConflict((on) =>
            on
              .column('call')
              .doUpdateSet((e) => ({ execution: e('call.execution', '+', 1), dispatch }))
              .where('call.dispatch', '<=', dispatch),
          )
          .returning('execution')
          .executeTakeFirst();
      });
      if (!row) throw new Superseded(`call ${call}`);
      return row.execution;
    },

    async whileClaimed(call, execution, act) {
      return ctx.db.write(async (tx) => {
        await checkClaim(tx, call, execution);
        return act();
      });
    },

    async putIntent(call, execution, intent) {
      await ctx.db.write(async (tx) => {
        await checkClaim(tx, call, execution);
        await tx.updateTable('call').set({ intent }).where('call', '=', call).execute();
      });
    },

    async getIntent(call) {
      const row = await ctx.db.read((tx) =>
        tx.selectFrom('call').select('intent').where('call', '=', call).executeTakeFirst(),
      );
      return row?.intent ?? undefined;
    },

    async leftIntents(task) {
      const rows = await ctx.db.read((tx) =>
        tx
          .selectFrom('call')
          .leftJoin('result', 'result.call', 'call.call')
          .select('call.intent')
          .where('call.task', '=', task)
          .where('call.intent', 'is not', null)
          .where('result.call', 'is', null)
          .execute(),
      );
      return rows.flatMap(({ intent }) => (intent === null ? [] : [intent]));
    },

    async putResult(row, events, execution) {
      const { stored, task } = await ctx.db.write(async (tx) => {
        const found = await findResult(tx, row.call);
        if (!found && execution !== undefined) await checkClaim(tx, row.call, execution);
        return storeResult(tx, { row, events });
      });
      wrote(ctx.db.path);
      if (task !== undefined) await drop(ctx, task, { stream: outputStream(row.call) });
      return stored;
    },

    async getResult(call) {
      return ctx.db.read((tx) => findResult(tx, call));
    },
  } satisfies Pick<
    Journal,
    'claimCall' | 'whileClaimed' | 'putIntent' | 'getIntent' | 'leftIntents' | 'putResult' | 'getResult'
  >;
}

/** The first one is kept. @returns it, and the task it belongs to */
export async function storeResult(
  tx: Tx,
  { row, events }: NewResult,
): Promise<{ stored: ToolResultRow; task: string | undefined }> {
  const found = await findResult(tx, row.call);
  const task = await ownerOf(tx, row.call);
  if (found) return { stored: found, task };
  if (events.length > 0) {
    if (task === undefined) throw lost(`call ${row.call}`);
    await appendEvents(tx, task, events);
  }
  await tx
    .insertInto('result')
    .values({ call: row.call, json: JSON.stringify(row) })
    .execute();
  return { stored: row, task };
}

async function checkClaim(tx: Tx, call: CallKey, execution: number): Promise<void> {
  const row = await tx.selectFrom('call').select('execution').where('call', '=', call).executeTakeFirst();
  if (!row) throw lost(`call ${call}`);
  if (row.execution !== execution) {
    throw new Superseded(`execution ${execution} of call ${call}: ${row.execution} is the newest`);
  }
}

async function findResult(tx: Tx, call: CallKey): Promise<ToolResultRow | undefined> {
  const row = await tx.selectFrom('result').select('json').where('call', '=', call).executeTakeFirst();
  if (!row) return undefined;
  const stored = JSON.parse(row.json) as ToolResultRow & { text: TextRef };
  return stored;
}

/** The task a call belongs to. A call that was answered without ever being claimed is found by its turn. */
async function ownerOf(tx: Tx, call: CallKey): Promise<string | undefined> {
  const claimed = await tx.selectFrom('call').select('task').where('call', '=', call).executeTakeFirst();
  if (claimed) return claimed.task;
  const turn = await tx
    .selectFrom('turn')
    .select('task')
    .where('turn', '=', splitCallKey(call).turn)
    .executeTakeFirst();
  return turn?.task;
}

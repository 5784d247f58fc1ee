import type { AnswerBlock } from '../domain/blocks.js';
import type { TurnKey } from '../domain/ids.js';
import { callKey } from '../domain/ids.js';
import { arriving, close, retract, settleTurns, unfinished } from './attempt-ends.js';
import { storeResult } from './calls.js';
import type { Context, Tx } from './context.js';
import { storeMessages } from './conversations.js';
import { conflict } from './errors.js';
import { type Journal, Superseded } from './journal.js';
import { grant, reserve, rootOf } from './ledger.js';
import { appendEvents } from './log.js';
import { drop, dropBlocks } from './partials.js';
import type { NewBlock, TurnClaim } from './rows.js';
import { checkRun } from './tasks.js';
import { contentHash, findTurn, type StoredTurn, wholeTurn, writableTurn } from './turn-rows.js';
import { wrote } from './wake.js';

export function turnStore(ctx: Context) {
  return {
    async claimTurn({ task, turn, run, root }, head, request, { dispatch = 0, opening, events, caps = {} } = {}) {
      const arrived = await arriving(ctx, task);
      let over = 0;
      const claim = await ctx.db.write(async (tx): Promise<TurnClaim> => {
        await checkRun(tx, task, run);
        const row = await findTurn(tx, turn);
        if (row && row.task !== task) throw conflict(`turn ${turn}`);
        if (row && row.state !== 'closed' && dispatch < row.dispatch) throw new Superseded(`turn ${turn}`);
        if (row) over = row.attempt;
        if (row && row.state !== 'open') {
          if (row.state === 'committed') await settleTurns(tx, [row], arrived, 'void');
          return { claim: 'closed', turn: await wholeTurn(tx, (await findTurn(tx, turn)) ?? row) };
        }
        // of earlier turns, too: a request is made when those before it are over
        const left = (await unfinished(tx, task)).filter((one) => one.turn === turn || one.dispatch < dispatch);
        await settleTurns(tx, left, arrived, 'void');
        const payer = await rootOf(tx, task, root);
        const granted = await grant(tx, payer, request, caps);
        if ('spent' in granted) return { claim: 'spent', ...granted };
        const attempt = over + 1;
        if (!row && opening) await storeMessages(tx, task, opening.parent, opening.messages);
        await storeClaim(tx, { task, turn, head, attempt, dispatch });
        await reserve(tx, payer, { turn, attempt }, { ...request, ...granted });
        if (events) await appendEvents(tx, task, events(attempt));
        return { claim: 'granted', attempt, head: row ? row.head : head, ...granted };
      });
      wrote(ctx.db.path);
      // before a first attempt nothing was streamed
      if (over > 0) await dropBlocks(ctx, turn, over);
      return claim;
    },

    async getTurn(turn) {
      return ctx.db.read(async (tx) => {
        const row = await findTurn(tx, turn);
        return row && wholeTurn(tx, row);
      });
    },

    async putBlock(turn, attempt, block) {
      const task = await ctx.db.write(async (tx) => {
        const row = await writableTurn(tx, turn, attempt);
        await storeBlock(tx, row, block);
        return row.task;
      });
      wrote(ctx.db.path);
      await drop(ctx, task, { stream: callKey(turn, block.index), attempt });
    },

    async commitTurn(turn, attempt, events = []) {
      await ctx.db.write(async (tx) => {
        const { task } = await writableTurn(tx, turn, attempt);
        await tx.updateTable('turn').set({ state: 'committed' }).where('turn', '=', turn).execute();
        if (events.length > 0) await appendEvents(tx, task, events);
      });
      if (events.length > 0) wrote(ctx.db.path);
    },

    async closeTurn(turn, attempt, end) {
      const closing = contentHash([end.stop, end.usage, end.extra ?? []]);
      const closed = await ctx.db.write(async (tx) => {
        const stored = await findTurn(tx, turn);
        if (stored?.state === 'closed' && stored.attempt === attempt && stored.closing !== null) {
          if (stored.closing !== closing) throw conflict(`the end of turn ${turn}`);
          return wholeTurn(tx, stored);
        }
        const row = await writableTurn(tx, turn, attempt);
        for (const block of end.blocks ?? []) await storeBlock(tx, row, block);
        await addExtra(tx, row, end.extra ?? []);
        await close(tx, row, end.stop, { ...end.usage, turn, attempt }, closing);
        for (const result of end.results ?? []) await storeResult(tx, result);
        return wholeTurn(tx, (await findTurn(tx, turn)) ?? row);
      });
      wrote(ctx.db.path);
      await dropBlocks(ctx, turn, attempt);
      return closed;
    },

    async retractTurn(turn, attempt, reason, usage) {
      await ctx.db.write(async (tx) => {
        const stored = await findTurn(tx, turn);
        if (stored?.state === 'open' && stored.attempt === attempt && stored.retracted === attempt) return;
        const row = await writableTurn(tx, turn, attempt);
        if (row.state === 'committed') throw conflict(`turn ${turn}, committed and no longer to be retracted,`);
        await retract(tx, row, reason, { ...usage, turn, attempt });
      });
      wrote(ctx.db.path);
      await dropBlocks(ctx, turn, attempt);
    },
  } satisfies Pick<Journal, 'claimTurn' | 'getTurn' | 'putBlock' | 'commitTurn' | 'closeTurn' | 'retractTurn'>;
}

async function storeClaim(
  tx: Tx,
  claim: { task: string; turn: TurnKey; head: string | null; attempt: number; dispatch: number },
): Promise<void> {
  const start = { retracted: 0, state: 'open' as const, stop: null, usage: null, cost: 0, closing: null };
  await tx
    .insertInto('turn')
    .values({ ...claim, ...start })
    .onConflict((on) => on.column('turn').doUpdateSet({ attempt: claim.attempt, dispatch: claim.dispatch }))
    .execute();
}

/** @param row of the attempt, which is writable */
async function storeBlock(tx: Tx, { turn, attempt, task }: StoredTurn, block: NewBlock): Promise<void> {
  const json = JSON.stringify(block.content);
  const call = block.call === undefined ? null : JSON.stringify(block.call);
  const stored = await tx
    .selectFrom('block')
    .selectAll()
    .where('turn', '=', turn)
    .where('attempt', '=', attempt)
    .where('position', '=', block.index)
    .executeTakeFirst();
  if (stored) {
    if (stored.json !== json || stored.call !== call) throw conflict(`block ${block.index} of turn ${turn}`);
    return;
  }
  await tx.insertInto('block').values({ turn, attempt, position: block.index, json, call }).execute();
  const events = [...(block.say ? [{ event: block.say }] : []), ...(block.events ?? [])];
  if (events.length > 0) await appendEvents(tx, task, events);
}

/** Blocks that come with the end: a call at its own number when that is free, others after all there are. */
async function addExtra(tx: Tx, row: StoredTurn, extra: readonly AnswerBlock[]): Promise<void> {
  const { turn, attempt } = row;
  const rows = await tx
    .selectFrom('block')
    .select('position')
    .where('turn', '=', turn)
    .where('attempt', '=', attempt)
    .execute();
  const taken = new Set(rows.map((one) => one.position));
  for (const content of extra) {
    const own = content.type === 'tool_use' && !taken.has(content.block) ? content.block : undefined;
    const position = own ?? Math.max(-1, ...taken) + 1;
    taken.add(position);
    await tx
      .insertInto('block')
      .values({ turn, attempt, position, json: JSON.stringify(content), call: null })
      .execute();
  }
}

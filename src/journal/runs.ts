import type { TaskEvent } from '../domain/events.js';
import { isOpen, type Totals } from '../domain/outcomes.js';
import { arriving, settleTurns, unfinished } from './attempt-ends.js';
import type { Context, Tx } from './context.js';
import { lost } from './errors.js';
import type { Journal } from './journal.js';
import { setTurns } from './ledger.js';
import { appendEvents } from './log.js';
import { dropBlocks, dropEnded } from './partials.js';
import { checkFree, findTask } from './tasks.js';
import { totalsOf } from './usage.js';
import { wrote } from './wake.js';

/** What ends or replaces a task's runs from outside of them. */
export function runStore(ctx: Context) {
  return {
    async runOf(task) {
      const row = await ctx.db.read((tx) =>
        tx.selectFrom('task').select('run').where('id', '=', task).executeTakeFirst(),
      );
      if (!row) throw lost(`task ${task}`);
      return row.run;
    },

    async enterRun(task, run, from, restart) {
      const arrived = await arriving(ctx, task);
      const entered = await ctx.db.write(async (tx) => {
        const row = await findTask(tx, task);
        if (!row) throw lost(`task ${task}`);
        if (row.run !== from) return false;
        await tx.updateTable('task').set({ run }).where('id', '=', task).execute();
        const left = await unfinished(tx, task);
        await settleTurns(tx, left, arrived, 'void', restart ? 'the task was reset' : 'its run is over');
        if (!restart) return true;
        if (!isOpen(row.status)) await checkFree(tx, row.workspace, row.root);
        // what the run that was reset has left is not where this one stands
        await tx.updateTable('task').set({ carried: null }).where('id', '=', task).execute();
        // executions of another run are counted from the beginning
        await tx.updateTable('turn').set({ dispatch: 0 }).where('task', '=', task).execute();
        await tx.updateTable('call').set({ dispatch: 0 }).where('task', '=', task).execute();
        const reopened: TaskEvent[] = isOpen(row.status) ? [] : [{ type: 'status', status: 'starting' }];
        await appendEvents(
          tx,
          task,
          [...reopened, ...restart.events].map((event) => ({ event })),
        );
        await setTurns(tx, task, restart.turns);
        return true;
      });
      wrote(ctx.db.path);
      if (entered) for (const turn of arrived.keys()) await dropBlocks(ctx, turn, Number.MAX_SAFE_INTEGER);
      return entered;
    },

    async closeIfOpen(task, since, { say, outcome }) {
      const arrived = await arriving(ctx, task);
      const closed = await ctx.db.write(async (tx) => {
        const row = await findTask(tx, task);
        if (!row || !isOpen(row.status) || row.since !== since) return undefined;
        await settleTurns(tx, await unfinished(tx, task), arrived, 'keep');
        const totals = await endTotals(tx, task);
        const events: TaskEvent[] = [
          { type: 'say', say: 'info', text: say },
          { type: 'closed', outcome, totals },
        ];
        await appendEvents(
          tx,
          task,
          events.map((event) => ({ event })),
        );
        return events;
      });
      wrote(ctx.db.path);
      if (closed) await dropEnded(ctx, task, closed);
      return closed !== undefined;
    },

    async settleLeft(task) {
      const arrived = await arriving(ctx, task);
      if (arrived.size === 0) return;
      await ctx.db.write(async (tx) => settleTurns(tx, await unfinished(tx, task), arrived, 'keep'));
      wrote(ctx.db.path);
      for (const turn of arrived.keys()) await dropBlocks(ctx, turn, Number.MAX_SAFE_INTEGER);
    },
  } satisfies Pick<Journal, 'runOf' | 'enterRun' | 'closeIfOpen' | 'settleLeft'>;
}

async function endTotals(tx: Tx, task: string): Promise<Totals> {
  const { usage, cost } = await totalsOf(tx, task);
  return { turns: (await findTask(tx, task))?.turns ?? 0, usage, cost };
}

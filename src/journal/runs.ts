import type { TaskEvent } from '../domain/events.js';
import { isOpen, type Totals } from '../domain/outcomes.js';
import type { Context, Tx } from './context.js';
import { lost } from './errors.js';
import type { Journal } from './journal.js';
import { appendEvents } from './log.js';
import { dropBlocks, dropEnded, streamed } from './partials.js';
import { checkFree, findTask } from './tasks.js';
import { outputOf, type StoredTurn } from './turn-rows.js';
import { closeLeftBehind, retract } from './turns.js';
import { estimated, totalsOf } from './usage.js';
import { wrote } from './wake.js';

type Arrived = Map<string, Awaited<ReturnType<typeof streamed>>>;

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
      const arrived = restart ? await arriving(ctx, task) : new Map();
      const entered = await ctx.db.write(async (tx) => {
        const row = await findTask(tx, task);
        if (!row) throw lost(`task ${task}`);
        if (row.run !== from) return false;
        await tx.updateTable('task').set({ run }).where('id', '=', task).execute();
        if (!restart) return true;
        if (!isOpen(row.status)) await checkFree(tx, row.workspace);
        // what the run that was reset has left is not where this one stands
        await tx.updateTable('task').set({ carried: null }).where('id', '=', task).execute();
        await settleTurns(tx, task, arrived, 'void');
        // executions of another run are counted from the beginning
        await tx.updateTable('turn').set({ dispatch: 0 }).where('task', '=', task).execute();
        await tx.updateTable('call').set({ dispatch: 0 }).where('task', '=', task).execute();
        const reopened: TaskEvent[] = isOpen(row.status) ? [] : [{ type: 'status', status: 'starting' }];
        await appendEvents(
          tx,
          task,
          [...reopened, ...restart.events].map((event) => ({ event })),
        );
        await tx.updateTable('task').set({ turns: restart.turns }).where('id', '=', task).execute();
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
        await settleTurns(tx, task, arrived, 'keep');
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
  } satisfies Pick<Journal, 'runOf' | 'enterRun' | 'closeIfOpen'>;
}

/** Settles what the task's unfinished requests have cost. `keep`: what they have stored is the answer. */
async function settleTurns(tx: Tx, task: string, arrived: Arrived, what: 'keep' | 'void'): Promise<void> {
  for (const row of await unfinished(tx, task)) {
    const chars = await outputOf(tx, row.turn, row.attempt, arrived.get(row.turn) ?? []);
    if (what === 'keep' || row.state === 'committed') await closeLeftBehind(tx, row, chars);
    else await retract(tx, row, 'the task was reset', await estimated(tx, row.turn, row.attempt, chars));
  }
}

async function endTotals(tx: Tx, task: string): Promise<Totals> {
  const { usage, cost } = await totalsOf(tx, task);
  return { turns: (await findTask(tx, task))?.turns ?? 0, usage, cost };
}

/** Turns with a claim that nobody has settled. */
async function unfinished(tx: Tx, task: string): Promise<StoredTurn[]> {
  const rows = await tx
    .selectFrom('turn')
    .selectAll()
    .where('task', '=', task)
    .where('state', '!=', 'closed')
    .execute();
  return rows.filter((row) => row.retracted < row.attempt);
}

/** How much has been streamed of them; partials are in a file of their own. */
async function arriving(ctx: Context, task: string): Promise<Arrived> {
  const rows = await ctx.db.read((tx) => unfinished(tx, task));
  const found: Arrived = new Map();
  for (const { turn } of rows) found.set(turn, await streamed(ctx, turn));
  return found;
}

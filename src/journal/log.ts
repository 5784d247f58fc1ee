import type { Selectable } from 'kysely';
import type { StoredEvent, TaskEvent } from '../domain/events.js';
import { isOpen } from '../domain/outcomes.js';
import { type Context, inGroups, type Tx } from './context.js';
import { lost } from './errors.js';
import type { Journal } from './journal.js';
import { setTurns } from './ledger.js';
import { dropEnded } from './partials.js';
import type { NewEvent } from './rows.js';
import type { JournalSchema } from './schema.js';
import { endedStream } from './streams.js';
import { checkFree, findTask, setStatus } from './tasks.js';
import { wrote } from './wake.js';

/** Rows read at once: the driver is synchronous, so a long log is read in pages with the event loop free in between. */
const PAGE = 200;

export function logStore(ctx: Context) {
  return {
    async append(task, events) {
      const seq = await ctx.db.write((tx) => appendEvents(tx, task, events));
      wrote(ctx.db.path);
      await dropEnded(
        ctx,
        task,
        events.map((one) => one.event),
      );
      return seq;
    },

    async reopenTask(task, how) {
      const reopened = await ctx.db.write(async (tx) => {
        const row = await findTask(tx, task);
        if (!row) throw lost(`task ${task}`);
        if (isOpen(row.status) || (how && how.seq !== row.seq)) return false;
        await checkFree(tx, row.workspace, row.root);
        const { carried, moved } = how ?? {};
        if (carried !== undefined) {
          await tx
            .updateTable('task')
            .set({ carried, ...moved })
            .where('id', '=', task)
            .execute();
        }
        const events: TaskEvent[] = [{ type: 'status', status: 'starting' }, ...(how?.events ?? [])];
        await storeEvents(
          tx,
          task,
          events.map((event) => ({ event })),
        );
        return true;
      });
      wrote(ctx.db.path);
      return reopened;
    },

    async changeClosed(task, seq, { carried, events }) {
      const changed = await ctx.db.write(async (tx) => {
        const row = await findTask(tx, task);
        if (!row) throw lost(`task ${task}`);
        if (isOpen(row.status) || row.seq !== seq) return false;
        await tx.updateTable('task').set({ carried }).where('id', '=', task).execute();
        await storeEvents(
          tx,
          task,
          events.map((event) => ({ event })),
        );
        return true;
      });
      wrote(ctx.db.path);
      return changed;
    },

    async readEvents(task, after, limit = Number.MAX_SAFE_INTEGER) {
      const found: StoredEvent[] = [];
      for (let from = after; ; ) {
        const size = Math.min(PAGE, limit - found.length);
        const page = await ctx.db.read((tx) => readPage(tx, task, from, size));
        found.push(...page);
        if (page.length < PAGE) return found;
        from = page.at(-1)?.seq ?? from;
        await new Promise(setImmediate);
      }
    },
  } satisfies Pick<Journal, 'append' | 'reopenTask' | 'changeClosed' | 'readEvents'>;
}

/** Appends to a task's log within a transaction. @throws LonghaulError `journal-lost` for an unknown task */
export async function appendEvents(tx: Tx, task: string, events: readonly NewEvent[]): Promise<number> {
  const row = await tx.selectFrom('task').select('status').where('id', '=', task).executeTakeFirst();
  if (!row) throw lost(`task ${task}`);
  const fresh = isOpen(row.status) || reopens(events) ? await withoutKnown(tx, task, events) : [];
  return storeEvents(tx, task, fresh);
}

/** Adds events to a task's log, whatever its state. @returns the last `seq` */
async function storeEvents(tx: Tx, task: string, fresh: readonly NewEvent[]): Promise<number> {
  const row = await tx.selectFrom('task').select('seq').where('id', '=', task).executeTakeFirst();
  if (!row) throw lost(`task ${task}`);
  if (fresh.length === 0) return row.seq;
  const at = Date.now();
  const rows = fresh.map(({ key, event }, i) => ({
    task,
    seq: row.seq + 1 + i,
    at,
    key: key ?? null,
    ends: endedStream(event),
    json: JSON.stringify(event),
  }));
  for (const group of inGroups(rows)) await tx.insertInto('log').values(group).execute();
  const seq = row.seq + rows.length;
  await tx.updateTable('task').set({ seq }).where('id', '=', task).execute();
  for (const { event } of fresh) await follow(tx, task, event, at);
  return seq;
}

/** A closed task is taken up again; anything else comes too late, from an execution that has not heard of the end. */
function reopens([first]: readonly NewEvent[]): boolean {
  return first?.event.type === 'status' && first.event.status === 'starting';
}

/** The next events of a task, at most `size`. */
export async function readPage(tx: Tx, task: string, after: number, size = PAGE): Promise<StoredEvent[]> {
  const rows = await tx
    .selectFrom('log')
    .selectAll()
    .where('task', '=', task)
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(size)
    .execute();
  return rows.map(storedEvent);
}

function storedEvent(row: Selectable<JournalSchema['log']>): StoredEvent {
  return { task: row.task, seq: row.seq, at: row.at, event: JSON.parse(row.json) };
}

async function withoutKnown(tx: Tx, task: string, events: readonly NewEvent[]): Promise<NewEvent[]> {
  const keys = events.flatMap((one) => one.key ?? []);
  const known = new Set<string>();
  for (const group of inGroups(keys)) {
    const rows = await tx.selectFrom('log').select('key').where('task', '=', task).where('key', 'in', group).execute();
    for (const row of rows) if (row.key !== null) known.add(row.key);
  }
  return events.filter(({ key }) => {
    if (key === undefined) return true;
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
}

/** What an event changes besides the log. */
async function follow(tx: Tx, task: string, event: TaskEvent, now: number): Promise<void> {
  switch (event.type) {
    case 'status':
      await setStatus(tx, task, event.status, now);
      break;
    case 'closed':
      await setStatus(tx, task, event.outcome.outcome, now);
      await setTurns(tx, task, event.totals.turns);
      await tx.updateTable('task').set({ cost: event.totals.cost }).where('id', '=', task).execute();
      break;
    case 'say':
    case 'ask':
    case 'ask_reminder':
    case 'ask_closed':
    case 'retract':
    case 'rewound':
    case 'pause':
    case 'mode':
    case 'limits':
      break;
  }
}

import type { Selectable } from 'kysely';
import type { Partial, TaskEvent } from '../domain/events.js';
import { callKey, splitCallKey } from '../domain/ids.js';
import type { Context, Tx } from './context.js';
import type { Database } from './database.js';
import type { Journal } from './journal.js';
import type { JournalSchema, PartialsSchema } from './schema.js';
import { endings, isOutput, outputStream } from './streams.js';
import { wrote } from './wake.js';

/** Rows read at once. */
const PAGE = 500;

export interface PartialRow {
  id: number;
  partial: Partial;
}

export function partialStore(ctx: Context) {
  return {
    async addPartial(partial) {
      const { task, turn, stream, attempt, kind, offset, text } = partial;
      const row = { task, turn, stream, attempt, kind, position: offset, length: text.length };
      await ctx.partials.write((tx) =>
        tx
          .insertInto('partial')
          .values({ ...row, json: JSON.stringify(text) })
          .execute(),
      );
      wrote(ctx.partials.path);
    },

    async readPartials(task, after) {
      const found: PartialRow[] = [];
      for (let from = after; ; ) {
        const page = await readPartialPage(ctx.partials, task, from);
        found.push(...page);
        if (page.length < PAGE) break;
        from = page.at(-1)?.id ?? from;
        await new Promise(setImmediate);
      }
      return onlyArriving(ctx.db, found);
    },

    async dropPartials(task, stream) {
      await drop(ctx, task, { stream });
    },
  } satisfies Pick<Journal, 'addPartial' | 'readPartials' | 'dropPartials'>;
}

/** The next partials of a task, in order of arrival, whatever has become of their streams. */
export async function readPartialPage(
  partials: Database<PartialsSchema>,
  task: string,
  after: number,
): Promise<PartialRow[]> {
  const rows = await partials.read((tx) =>
    tx
      .selectFrom('partial')
      .selectAll()
      .where('task', '=', task)
      .where('id', '>', after)
      .orderBy('id')
      .limit(PAGE)
      .execute(),
  );
  return rows.map((row) => ({ id: row.id, partial: pieceOf(row) }));
}

/**
 * Leaves out what viewers must not see: partials of attempts that were given up or overtaken and of streams that are
 * complete, also when a process that did not know wrote them later.
 */
export async function onlyArriving(db: Database<JournalSchema>, rows: PartialRow[]): Promise<PartialRow[]> {
  const streams = new Map(rows.map(({ partial }) => [streamKey(partial), partial]));
  const arriving = new Set<string>();
  await db.read(async (tx) => {
    for (const [key, partial] of streams) if (await isArriving(tx, partial)) arriving.add(key);
  });
  return rows.filter(({ partial }) => arriving.has(streamKey(partial)));
}

/** Removes the partials of streams that these events complete, and all of a task that is closed. */
export async function dropEnded(ctx: Context, task: string, events: readonly TaskEvent[]): Promise<void> {
  for (const event of events) {
    if (event.type === 'closed') {
      await ctx.partials.write((tx) => tx.deleteFrom('partial').where('task', '=', task).execute());
    } else if (event.type === 'say') {
      switch (event.say) {
        case 'text':
        case 'reasoning':
          await drop(ctx, task, { stream: callKey(event.turn, event.block), attempt: event.attempt });
          break;
        case 'tool_result':
        case 'command_output':
          await drop(ctx, task, { stream: outputStream(event.call) });
          break;
      }
    }
  }
}

/** Removes the partials of one stream (up to `attempt`, when given). */
export async function drop(ctx: Context, task: string, only: { stream: string; attempt?: number }): Promise<void> {
  await ctx.partials.write((tx) => {
    const query = tx.deleteFrom('partial').where('task', '=', task).where('stream', '=', only.stream);
    return (only.attempt === undefined ? query : query.where('attempt', '<=', only.attempt)).execute();
  });
}

/** Removes the partials of a turn's blocks up to `attempt`; output of its commands stays. */
export async function dropBlocks(ctx: Context, turn: string, attempt: number): Promise<void> {
  await ctx.partials.write((tx) =>
    tx
      .deleteFrom('partial')
      .where('turn', '=', turn)
      .where('attempt', '<=', attempt)
      .where('stream', 'not like', '%:out')
      .execute(),
  );
}

/** How much of each block of a turn has been streamed so far, in UTF-16 units. */
export async function streamed(
  ctx: Context,
  turn: string,
): Promise<{ attempt: number; block: number; length: number }[]> {
  const rows = await ctx.partials.read((tx) =>
    tx
      .selectFrom('partial')
      .select(['stream', 'attempt', (e) => e.fn.max<number>(e('position', '+', e.ref('length'))).as('length')])
      .where('turn', '=', turn)
      .groupBy(['stream', 'attempt'])
      .execute(),
  );
  return rows
    .filter((row) => !isOutput(row.stream))
    .map((row) => ({ attempt: row.attempt, block: splitCallKey(row.stream).block, length: row.length }));
}

async function isArriving(tx: Tx, partial: Partial): Promise<boolean> {
  const ended = await tx
    .selectFrom('log')
    .select('seq')
    .where('ends', 'in', endings(partial))
    .where('task', '=', partial.task)
    .limit(1)
    .execute();
  if (ended.length > 0) return false;
  if (isOutput(partial.stream)) return true;
  const turn = await tx
    .selectFrom('turn')
    .select(['state', 'retracted', 'attempt'])
    .where('turn', '=', partial.turn)
    .executeTakeFirst();
  if (!turn) return true;
  if (turn.state === 'closed' || partial.attempt <= turn.retracted || partial.attempt < turn.attempt) return false;
  const block = await tx
    .selectFrom('block')
    .select('position')
    .where('turn', '=', partial.turn)
    .where('attempt', '=', partial.attempt)
    .where('position', '=', splitCallKey(partial.stream).block)
    .executeTakeFirst();
  return block === undefined;
}

function streamKey(partial: Partial): string {
  return `${partial.stream}@${partial.attempt}`;
}

function pieceOf(row: Selectable<PartialsSchema['partial']>): Partial {
  const { task, turn, stream, attempt, kind, position, json } = row;
  return { task, turn, stream, attempt, kind, offset: position, text: JSON.parse(json) };
}

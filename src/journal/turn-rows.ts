import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { AnswerBlock } from '../domain/blocks.js';
import type { TurnKey } from '../domain/ids.js';
import { NO_USAGE } from '../domain/usage.js';
import type { Tx } from './context.js';
import { lost } from './errors.js';
import { Superseded } from './journal.js';
import type { TurnRow } from './rows.js';
import type { JournalSchema } from './schema.js';

export type StoredTurn = Selectable<JournalSchema['turn']>;

export function findTurn(tx: Tx, turn: TurnKey): Promise<StoredTurn | undefined> {
  return tx.selectFrom('turn').selectAll().where('turn', '=', turn).executeTakeFirst();
}

/** The row, when `attempt` may still change it. @throws Superseded */
export async function writableTurn(tx: Tx, turn: TurnKey, attempt: number): Promise<StoredTurn> {
  const row = await findTurn(tx, turn);
  if (!row) throw lost(`turn ${turn}`);
  if (row.state === 'closed') throw new Superseded(`turn ${turn} is closed`);
  if (row.attempt !== attempt) throw new Superseded(`attempt ${attempt} of turn ${turn}: ${row.attempt} is the newest`);
  if (row.retracted >= attempt) throw new Superseded(`attempt ${attempt} of turn ${turn} was given up`);
  return row;
}

/** The row with its blocks and calls, both in the answer's order. */
export async function wholeTurn(tx: Tx, row: StoredTurn): Promise<TurnRow> {
  const blocks = await tx
    .selectFrom('block')
    .selectAll()
    .where('turn', '=', row.turn)
    .where('attempt', '=', row.attempt)
    .orderBy('position')
    .execute();
  return {
    turn: row.turn,
    task: row.task,
    head: row.head,
    attempt: row.attempt,
    state: row.state,
    stop: row.stop,
    blocks: blocks.map((block) => JSON.parse(block.json)),
    calls: blocks.flatMap((block) => (block.call === null ? [] : [JSON.parse(block.call)])),
    usage: row.usage === null ? { ...NO_USAGE } : JSON.parse(row.usage),
    cost: row.cost,
  };
}

/** UTF-16 units of output that an attempt has stored, and of what was streamed of blocks that are not stored. */
export async function outputOf(
  tx: Tx,
  turn: TurnKey,
  attempt: number,
  streamed: { attempt: number; block: number; length: number }[],
): Promise<number> {
  const blocks = await tx
    .selectFrom('block')
    .select(['position', 'json'])
    .where('turn', '=', turn)
    .where('attempt', '=', attempt)
    .execute();
  const stored = new Set(blocks.map((block) => block.position));
  const open = streamed.filter((one) => one.attempt === attempt && !stored.has(one.block));
  const lengths = [...blocks.map((block) => outputLength(JSON.parse(block.json))), ...open.map((one) => one.length)];
  return lengths.reduce((sum, length) => sum + length, 0);
}

function outputLength(block: AnswerBlock): number {
  switch (block.type) {
    case 'text':
      return block.text.length;
    case 'thinking':
      return block.thinking.length;
    case 'redacted_thinking':
      return block.data.length;
    case 'tool_use':
      return block.name.length + JSON.stringify(block.input).length;
  }
}

/** Hash of a JSON value, to recognise the same content again. */
export function contentHash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

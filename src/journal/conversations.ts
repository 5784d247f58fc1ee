import type { Message } from '../domain/blocks.js';
import type { Context, Tx } from './context.js';
import { lost } from './errors.js';
import type { Journal } from './journal.js';
import { contentHash } from './turn-rows.js';

/** A chain is read in pages of at most this many messages, and about this many characters. */
const PAGE_MESSAGES = 200;
const PAGE_CHARS = 262_144;

export function conversationStore(ctx: Context) {
  return {
    async appendMessage(task, parent, message) {
      const id = contentHash([parent, message.role, message.content]);
      const json = JSON.stringify({ role: message.role, content: message.content });
      await ctx.db.write(async (tx) => {
        const depth = parent === null ? 0 : await depthOf(tx, parent);
        await tx
          .insertInto('message')
          .values({ id, parent, task, depth: depth + 1, json })
          .onConflict((on) => on.column('id').doNothing())
          .execute();
      });
      return id;
    },

    async readConversation(head) {
      const newestFirst: Message[] = [];
      for (let next = head; next !== null; ) {
        const id = next;
        const page = await ctx.db.read((tx) => readPage(tx, id));
        const last = page.at(-1);
        if (!last) throw lost(`message ${id}`);
        for (const row of page) newestFirst.push(JSON.parse(row.json));
        next = last.parent;
        if (next !== null) await new Promise(setImmediate);
      }
      return newestFirst.reverse();
    },
  } satisfies Pick<Journal, 'appendMessage' | 'readConversation'>;
}

async function depthOf(tx: Tx, id: string): Promise<number> {
  const row = await tx.selectFrom('message').select('depth').where('id', '=', id).executeTakeFirst();
  if (!row) throw lost(`message ${id}`);
  return row.depth;
}

/** Messages from `id` towards the start, newest first. */
function readPage(tx: Tx, id: string) {
  return tx
    .withRecursive('chain(id, parent, json, depth, n, chars)', (db) =>
      db
        .selectFrom('message')
        .select((e) => [
          'message.id',
          'message.parent',
          'message.json',
          'message.depth',
          e.lit(1).as('n'),
          e.fn<number>('length', ['message.json']).as('chars'),
        ])
        .where('message.id', '=', id)
        .unionAll(
          db
            .selectFrom('message')
            .innerJoin('chain', 'message.id', 'chain.parent')
            .select((e) => [
              'message.id',
              'message.parent',
              'message.json',
              'message.depth',
              e('chain.n', '+', 1).as('n'),
              e('chain.chars', '+', e.fn<number>('length', ['message.json'])).as('chars'),
            ])
            .where('chain.n', '<', PAGE_MESSAGES)
            .where('chain.chars', '<', PAGE_CHARS),
        ),
    )
    .selectFrom('chain')
    .select(['parent', 'json'])
    .orderBy('depth', 'desc')
    .execute();
}

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
    async appendMessages(task, parent, messages) {
      let head = parent;
      await ctx.db.write(async (tx) => {
        let end = parent === null ? undefined : await placeOf(tx, parent);
        for (const { role, content } of messages) {
          const id = contentHash([head, role, content]);
          const json = JSON.stringify({ role, content });
          const place = { root: end?.root ?? id, total: (end?.total ?? 0) + json.length };
          await tx
            .insertInto('message')
            .values({ id, parent: head, task, ...place, json })
            .onConflict((on) => on.column('id').doNothing())
            .execute();
          head = id;
          end = place;
        }
      });
      return head;
    },

    async readConversation(head, limit = Number.POSITIVE_INFINITY) {
      if (head === null) return { messages: [], skipped: 0 };
      const newestFirst: Message[] = [];
      const { root, total } = await ctx.db.read((tx) => placeOf(tx, head));
      let before = total;
      for (let next: string | null = head; next !== null && total - before < limit; ) {
        const id: string = next;
        const page = await ctx.db.read((tx) => readPage(tx, id));
        if (page.length === 0) throw lost(`message ${id}`);
        for (const row of page) {
          if (total - before >= limit) break;
          newestFirst.push(JSON.parse(row.json));
          before = row.total - row.json.length;
          next = row.parent;
        }
        if (next !== null) await new Promise(setImmediate);
      }
      const messages = newestFirst.reverse();
      if (before === 0) return { messages, skipped: 0 };
      const [first] = await ctx.db.read((tx) => readPage(tx, root));
      if (!first) throw lost(`message ${root}`);
      return { messages: [JSON.parse(first.json), ...messages], skipped: before - first.total };
    },
  } satisfies Pick<Journal, 'appendMessages' | 'readConversation'>;
}

async function placeOf(tx: Tx, id: string): Promise<{ root: string; total: number }> {
  const row = await tx.selectFrom('message').select(['root', 'total']).where('id', '=', id).executeTakeFirst();
  if (!row) throw lost(`message ${id}`);
  return row;
}

/** Messages from `id` towards the start, newest first. */
function readPage(tx: Tx, id: string) {
  return tx
    .withRecursive('chain(id, parent, json, total, n, chars)', (db) =>
      db
        .selectFrom('message')
        .select((e) => [
          'message.id',
          'message.parent',
          'message.json',
          'message.total',
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
              'message.total',
              e('chain.n', '+', 1).as('n'),
              e('chain.chars', '+', e.fn<number>('length', ['message.json'])).as('chars'),
            ])
            .where('chain.n', '<', PAGE_MESSAGES)
            .where('chain.chars', '<', PAGE_CHARS),
        ),
    )
    .selectFrom('chain')
    .select(['parent', 'json', 'total'])
    .orderBy('total', 'desc')
    .execute();
}

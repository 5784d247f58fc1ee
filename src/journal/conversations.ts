import type { Message } from '../domain/blocks.js';
import type { Head } from '../domain/ids.js';
import type { Context, Tx } from './context.js';
import { lost } from './errors.js';
import type { Journal } from './journal.js';
import { RecentConversations } from './recent-conversations.js';
import { contentHash } from './turn-rows.js';

/** A chain is read in pages of at most this many messages, and about this many characters. */
const PAGE_MESSAGES = 200;
const PAGE_CHARS = 262_144;
/** The first page: mostly all before it has been read lately. */
const FIRST_PAGE_MESSAGES = 4;

export function conversationStore(ctx: Context) {
  const recent = new RecentConversations();
  return {
    async appendMessage(task, parent, message) {
      await ctx.db.write((tx) => storeMessages(tx, task, parent, [message]));
      return messageId(parent, message);
    },

    async readConversation(head) {
      const newestFirst: Message[] = [];
      let chars = 0;
      let known = recent.find(head);
      for (let next = head, limit = FIRST_PAGE_MESSAGES; !known; limit = PAGE_MESSAGES) {
        const id: string = next!;
        const page = await ctx.db.read((tx) => readPage(tx, id, limit));
        if (page.length === 0) throw lost(`message ${id}`);
        for (const row of page) {
          newestFirst.push(JSON.parse(row.json));
          chars += row.json.length;
          next = row.parent;
          known = recent.find(next);
          if (known) break;
        }
        if (!known && page.length === PAGE_MESSAGES) await new Promise(setImmediate);
      }
      return recent.extend(known, head, newestFirst.reverse(), chars);
    },
  } satisfies Pick<Journal, 'appendMessage' | 'readConversation'>;
}

/** The head of the conversation that `messages` make after `parent`. */
export function headAfter(parent: Head, messages: readonly Message[]): Head {
  return messages.reduce<Head>(messageId, parent);
}

function messageId(parent: Head, { role, content }: Message): string {
  return contentHash([parent, role, content]);
}

/** @throws LonghaulError `journal-lost` for an unknown parent */
export async function storeMessages(tx: Tx, task: string, parent: Head, messages: readonly Message[]): Promise<void> {
  let depth = parent === null ? 0 : await depthOf(tx, parent);
  let above = parent;
  for (const message of messages) {
    const id = messageId(above, message);
    const json = JSON.stringify({ role: message.role, content: message.content });
    depth++;
    await tx
      .insertInto('message')
      .values({ id, parent: above, task, depth, json })
      .onConflict((on) => on.column('id').doNothing())
      .execute();
    above = id;
  }
}

async function depthOf(tx: Tx, id: string): Promise<number> {
  const row = await tx.selectFrom('message').select('depth').where('id', '=', id).executeTakeFirst();
  if (!row) throw lost(`message ${id}`);
  return row.depth;
}

/** Messages from `id` towards the start, newest first. */
function readPage(tx: Tx, id: string, limit: number) {
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
            .where('chain.n', '<', limit)
            .where('chain.chars', '<', PAGE_CHARS),
        ),
    )
    .selectFrom('chain')
    .select(['parent', 'json'])
    .orderBy('depth', 'desc')
    .execute();
}

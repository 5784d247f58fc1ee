import type { Message } from '../domain/blocks.js';
import type { Head } from '../domain/ids.js';
import type { ListedMessage } from '../domain/rewind.js';
import { sizeOf } from '../domain/size.js';
import { oneLine } from '../domain/text.js';
import type { Context, Tx } from './context.js';
import { lost } from './errors.js';
import type { Journal } from './journal.js';
import { type KnownConversation, NEWEST, RecentConversations, type SizedMessage } from './recent-conversations.js';
import { contentHash } from './turn-rows.js';

/** Characters of a message that lists show. */
export const EXCERPT = 200;

/** A chain is read in pages of at most this many messages, and about this many characters. */
const PAGE_MESSAGES = 200;
const PAGE_CHARS = 262_144;
/** The first page: mostly all before it has been read lately. */
const FIRST_PAGE_MESSAGES = 4;

export function conversationStore(ctx: Context) {
  const recent = new RecentConversations();
  return {
    async appendMessages(task, parent, messages) {
      await ctx.db.write((tx) => storeMessages(tx, task, parent, messages));
      return headAfter(parent, messages);
    },

    async readConversation(head, limit = Number.POSITIVE_INFINITY) {
      const newestFirst: SizedMessage[] = [];
      let read = 0;
      let before = 0;
      let next = head;
      let known = recent.find(head, limit);
      const enough = () => read >= limit && newestFirst.length >= NEWEST;
      for (let size = FIRST_PAGE_MESSAGES; !known && next !== null && !enough(); size = PAGE_MESSAGES) {
        const id: string = next;
        const page = await ctx.db.read((tx) => readPage(tx, id, size));
        if (page.length === 0) throw lost(`message ${id}`);
        for (const { json, parent, total } of page) {
          const message: Message = JSON.parse(json);
          const chars = sizeOf(message);
          newestFirst.push({ message, chars });
          read += chars;
          before = total - chars;
          next = parent;
          known = recent.find(next, limit);
          if (known || enough()) break;
        }
        if (!known) await new Promise(setImmediate);
      }
      const { sized, skipped } = known ?? (await ctx.db.read((tx) => beginning(tx, head, before)));
      return recent.keep(next, head, { sized: [...sized, ...newestFirst.reverse()], skipped }, limit);
    },

    async listMessages(head) {
      const newestFirst: ListedMessage[] = [];
      for (let next = head; next !== null; ) {
        const id: string = next;
        const page = await ctx.db.read((tx) => readPage(tx, id, PAGE_MESSAGES));
        if (page.length === 0) throw lost(`message ${id}`);
        for (const { id, json, parent } of page) {
          newestFirst.push(listed(id, parent, JSON.parse(json)));
          next = parent;
        }
        await new Promise(setImmediate);
      }
      return newestFirst.reverse();
    },

    async getMessage(id) {
      const [row] = await ctx.db.read((tx) => readPage(tx, id, 1));
      if (!row) throw lost(`message ${id}`);
      return JSON.parse(row.json);
    },
  } satisfies Pick<Journal, 'appendMessages' | 'readConversation' | 'listMessages' | 'getMessage'>;
}

/** The head of the conversation that `messages` make after `parent`. */
export function headAfter(parent: Head, messages: readonly Message[]): Head {
  return messages.reduce<Head>(messageId, parent);
}

/** What people wrote stands in its wrapper. */
const BY_PERSON = /^<(task|user_message|feedback)>\n/;

/** A message as lists show it: what a person said, else its texts, or what its results say. */
export function listed(id: string, parent: Head, { role, content }: Message): ListedMessage {
  const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const results = content.flatMap((block) => (block.type === 'tool_result' ? block.content : []));
  const said = texts.filter((text) => role === 'user' && BY_PERSON.test(text));
  const shown = said.length > 0 ? said : texts;
  const words = shown.length > 0 ? shown : results.map((block) => (block.type === 'text' ? block.text : '(image)'));
  const calls = content.filter((block) => block.type === 'tool_use').length;
  return { id, parent, role, excerpt: oneLine(words.join(' '), EXCERPT), calls };
}

function messageId(parent: Head, { role, content }: Message): string {
  return contentHash([parent, role, content]);
}

/** @throws LonghaulError `journal-lost` for an unknown parent */
export async function storeMessages(tx: Tx, task: string, parent: Head, messages: readonly Message[]): Promise<void> {
  let end = parent === null ? undefined : await placeOf(tx, parent);
  let above = parent;
  for (const message of messages) {
    const id = messageId(above, message);
    const json = JSON.stringify({ role: message.role, content: message.content });
    const place = { root: end?.root ?? id, total: (end?.total ?? 0) + sizeOf(message) };
    await tx
      .insertInto('message')
      .values({ id, parent: above, task, ...place, json })
      .onConflict((on) => on.column('id').doNothing())
      .execute();
    above = id;
    end = place;
  }
}

/** The first message of a conversation, and how much of it lies between that and the place `before`. */
async function beginning(tx: Tx, head: Head, before: number): Promise<KnownConversation> {
  const { root } = await placeOf(tx, head ?? '');
  const [first] = await readPage(tx, root, 1);
  if (!first) throw lost(`message ${root}`);
  const { json, total } = first;
  const message: Message = JSON.parse(json);
  return { sized: [{ message, chars: sizeOf(message) }], skipped: before - total };
}

async function placeOf(tx: Tx, id: string): Promise<{ root: string; total: number }> {
  const row = await tx.selectFrom('message').select(['root', 'total']).where('id', '=', id).executeTakeFirst();
  if (!row) throw lost(`message ${id}`);
  return row;
}

/** Messages from `id` towards the start, newest first. */
function readPage(tx: Tx, id: string, size: number) {
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
            .where('chain.n', '<', size)
            .where('chain.chars', '<', PAGE_CHARS),
        ),
    )
    .selectFrom('chain')
    .select(['id', 'parent', 'json', 'total'])
    .orderBy('total', 'desc')
    .execute();
}

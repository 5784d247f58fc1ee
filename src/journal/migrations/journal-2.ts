import { type Kysely, sql } from 'kysely';

/** Messages read at once. */
const PAGE = 200;

/**
 * A task's newest run and its provider profile; a lease for each worker instead of each host; of a message, where its
 * conversation begins and how long it is up to there instead of its depth.
 */
export async function journal2(db: Kysely<unknown>): Promise<void> {
  await tasksAndWorkers(db);
  await placesOfMessages(db as Kysely<Old>);
}

interface Old {
  message: { id: string; parent: string | null; json: string; depth: number; root: string; total: number };
}

async function placesOfMessages(db: Kysely<Old>): Promise<void> {
  await db.schema
    .alterTable('message')
    .addColumn('root', 'text', (c) => c.notNull().defaultTo(''))
    .execute();
  await db.schema
    .alterTable('message')
    .addColumn('total', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema.createIndex('message_depth').on('message').columns(['depth', 'id']).execute();
  let last = { depth: 0, id: '' };
  for (;;) {
    // parents come before their children
    const page = await db
      .selectFrom('message')
      .leftJoin('message as before', 'before.id', 'message.parent')
      .select(['message.id', 'message.parent', 'message.depth', 'message.json', 'before.root', 'before.total'])
      .where(sql<boolean>`(message.depth, message.id) > (${last.depth}, ${last.id})`)
      .orderBy('message.depth')
      .orderBy('message.id')
      .limit(PAGE)
      .execute();
    const places = new Map<string, { root: string; total: number }>();
    for (const { id, parent, json, root, total } of page) {
      const before = places.get(parent ?? '') ?? { root, total };
      const place = { root: before.root || id, total: (before.total ?? 0) + json.length };
      places.set(id, place);
      await db.updateTable('message').set(place).where('id', '=', id).execute();
    }
    const end = page.at(-1);
    if (!end) break;
    last = { depth: end.depth, id: end.id };
  }
  await db.schema.dropIndex('message_depth').execute();
  await db.schema.alterTable('message').dropColumn('depth').execute();
}

async function tasksAndWorkers(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('task').addColumn('run', 'text').execute();
  await db.schema.alterTable('task').addColumn('profile', 'text').execute();
  await db.schema.createIndex('turn_task').on('turn').column('task').execute();
  // leases are renewed every few seconds: none is missed
  await db.schema.dropTable('lease').execute();
  await db.schema
    .createTable('lease')
    .addColumn('host', 'text', (c) => c.notNull())
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('queue', 'text', (c) => c.notNull())
    .addColumn('server', 'text', (c) => c.notNull())
    .addColumn('pid', 'integer', (c) => c.notNull())
    .addColumn('until', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('lease_pk', ['host', 'pid'])
    .execute();
}

import type { Kysely } from 'kysely';

/** First schema of the file for partials. */
export async function partials1(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('partial')
    .addColumn('id', 'integer', (c) => c.primaryKey().autoIncrement())
    .addColumn('task', 'text', (c) => c.notNull())
    .addColumn('turn', 'text', (c) => c.notNull())
    .addColumn('stream', 'text', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('length', 'integer', (c) => c.notNull())
    .addColumn('json', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('partial_task').on('partial').columns(['task', 'id']).execute();
  await db.schema.createIndex('partial_stream').on('partial').columns(['task', 'stream']).execute();
  await db.schema.createIndex('partial_turn').on('partial').column('turn').execute();
}

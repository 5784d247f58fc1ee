import type { Kysely } from 'kysely';

/** What each task last read of each file, or wrote to it. */
export async function journal4(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('seen')
    .addColumn('task', 'text', (c) => c.notNull())
    .addColumn('path', 'text', (c) => c.notNull())
    .addColumn('content', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('seen_key', ['task', 'path'])
    .execute();
}

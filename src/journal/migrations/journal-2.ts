import type { Kysely } from 'kysely';

/** A task's newest run and its provider profile; a lease for each worker instead of each host. */
export async function journal2(db: Kysely<unknown>): Promise<void> {
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

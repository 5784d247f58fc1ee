import { type Kysely, sql } from 'kysely';

/** Of a task the root of its tree, and of a root what its tree has used; before this every task was a tree of its own. */
export async function journal3(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('task')
    .addColumn('root', 'text', (c) => c.notNull().defaultTo(''))
    .execute();
  await db.schema
    .alterTable('task')
    .addColumn('tree_turns', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema
    .alterTable('task')
    .addColumn('tree_tokens', 'bigint', (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema
    .alterTable('task')
    .addColumn('tree_cost', 'double precision', (c) => c.notNull().defaultTo(0))
    .execute();
  const tokens = sql`input_tokens + output_tokens + cache_write_tokens + cache_read_tokens`;
  await sql`update task set
    root = id,
    tree_turns = turns,
    tree_tokens = coalesce((select sum(${tokens}) from usage where usage.task = task.id), 0),
    tree_cost = coalesce((select sum(usage.cost) from usage where usage.task = task.id), 0)`.execute(db);
}

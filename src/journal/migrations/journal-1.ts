import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { JournalSchema } from '../schema.js';

/** First schema of the journal, and its identity. */
export async function journal1(db: Kysely<unknown>): Promise<void> {
  await identity(db);
  await tasks(db);
  await turns(db);
  await money(db);
  await calls(db);
  await content(db);
}

async function identity(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('journal')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('generation', 'integer', (c) => c.notNull())
    .execute();
  await (db as Kysely<JournalSchema>).insertInto('journal').values({ id: randomUUID(), generation: 1 }).execute();
  await db.schema
    .createTable('lease')
    .addColumn('host', 'text', (c) => c.primaryKey())
    .addColumn('queue', 'text', (c) => c.notNull())
    .addColumn('server', 'text', (c) => c.notNull())
    .addColumn('pid', 'integer', (c) => c.notNull())
    .addColumn('until', 'bigint', (c) => c.notNull())
    .execute();
}

async function tasks(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('task')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('created', 'bigint', (c) => c.notNull())
    .addColumn('workspace', 'text', (c) => c.notNull())
    .addColumn('model', 'text', (c) => c.notNull())
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('server', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('since', 'bigint', (c) => c.notNull())
    .addColumn('turns', 'integer', (c) => c.notNull())
    .addColumn('cost', 'double precision', (c) => c.notNull())
    .addColumn('input', 'text', (c) => c.notNull())
    .addColumn('carried', 'text')
    .addColumn('seq', 'integer', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('task_created').on('task').column('created').execute();
  await db.schema
    .createTable('log')
    .addColumn('task', 'text', (c) => c.notNull())
    .addColumn('seq', 'integer', (c) => c.notNull())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addColumn('key', 'text')
    .addColumn('ends', 'text')
    .addColumn('json', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('log_pk', ['task', 'seq'])
    .addUniqueConstraint('log_key', ['task', 'key'])
    .execute();
  await db.schema.createIndex('log_ends').on('log').column('ends').where('ends', 'is not', null).execute();
}

async function turns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('turn')
    .addColumn('turn', 'text', (c) => c.primaryKey())
    .addColumn('task', 'text', (c) => c.notNull())
    .addColumn('head', 'text')
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('retracted', 'integer', (c) => c.notNull())
    .addColumn('dispatch', 'bigint', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('stop', 'text')
    .addColumn('usage', 'text')
    .addColumn('cost', 'double precision', (c) => c.notNull())
    .addColumn('closing', 'text')
    .execute();
  await db.schema
    .createTable('block')
    .addColumn('turn', 'text', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('position', 'integer', (c) => c.notNull())
    .addColumn('json', 'text', (c) => c.notNull())
    .addColumn('call', 'text')
    .addPrimaryKeyConstraint('block_pk', ['turn', 'attempt', 'position'])
    .execute();
}

async function money(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('usage')
    .addColumn('turn', 'text', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('task', 'text', (c) => c.notNull())
    .addColumn('model', 'text', (c) => c.notNull())
    .addColumn('input_tokens', 'bigint', (c) => c.notNull())
    .addColumn('output_tokens', 'bigint', (c) => c.notNull())
    .addColumn('cache_write_tokens', 'bigint', (c) => c.notNull())
    .addColumn('cache_read_tokens', 'bigint', (c) => c.notNull())
    .addColumn('cost', 'double precision', (c) => c.notNull())
    .addColumn('estimated', 'integer', (c) => c.notNull())
    .addColumn('at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('usage_pk', ['turn', 'attempt'])
    .execute();
  await db.schema.createIndex('usage_task').on('usage').column('task').execute();
  await db.schema
    .createTable('ledger')
    .addColumn('root', 'text', (c) => c.notNull())
    .addColumn('turn', 'text', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('model', 'text', (c) => c.notNull())
    .addColumn('tokens', 'bigint', (c) => c.notNull())
    .addColumn('cost', 'double precision', (c) => c.notNull())
    .addColumn('estimate', 'text', (c) => c.notNull())
    .addColumn('settled', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('ledger_pk', ['turn', 'attempt'])
    .execute();
  await db.schema.createIndex('ledger_root').on('ledger').columns(['root', 'settled']).execute();
}

async function calls(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('call')
    .addColumn('call', 'text', (c) => c.primaryKey())
    .addColumn('task', 'text', (c) => c.notNull())
    .addColumn('execution', 'integer', (c) => c.notNull())
    .addColumn('dispatch', 'bigint', (c) => c.notNull())
    .addColumn('intent', 'text')
    .execute();
  await db.schema.createIndex('call_task').on('call').column('task').execute();
  await db.schema
    .createTable('result')
    .addColumn('call', 'text', (c) => c.primaryKey())
    .addColumn('json', 'text', (c) => c.notNull())
    .execute();
}

async function content(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('message')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('parent', 'text')
    .addColumn('task', 'text', (c) => c.notNull())
    .addColumn('depth', 'integer', (c) => c.notNull())
    .addColumn('json', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('blob')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('bytes', 'integer', (c) => c.notNull())
    .addColumn('base64', 'text', (c) => c.notNull())
    .execute();
}

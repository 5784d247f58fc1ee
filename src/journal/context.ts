import type { Kysely } from 'kysely';
import type { JournalId } from '../domain/turn.js';
import type { Database } from './database.js';
import type { JournalSchema, PartialsSchema } from './schema.js';

/** A transaction, or one state of the database to read from. */
export type Tx = Kysely<JournalSchema>;

/** What the parts of the journal share. */
export interface Context {
  id: JournalId;
  db: Database<JournalSchema>;
  partials: Database<PartialsSchema>;
  blobs: string;
  /** Aborts when the journal is closed. */
  closing: AbortController;
}

/** SQLite takes a bounded number of bound values in one statement, so rows go in groups. */
export function inGroups<T>(rows: readonly T[], size = 100): T[][] {
  const groups: T[][] = [];
  for (let i = 0; i < rows.length; i += size) groups.push(rows.slice(i, i + size));
  return groups;
}

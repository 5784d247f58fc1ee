import type { Kysely } from 'kysely';

/** One step of a schema. A list of them is numbered from 1; a step that was released is never changed again. */
export type Migration = (db: Kysely<unknown>) => Promise<void>;

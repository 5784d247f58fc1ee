import { existsSync } from 'node:fs';
import Libsql from 'libsql';

/** What may be done with a journal that is only looked at. Values are strings and numbers. */
export interface Peek {
  all<Row>(query: string, ...values: (string | number)[]): Row[];
  close(): void;
}

/**
 * Opens a journal's file for looking only: makes nothing, migrates nothing, waits for no lock, and needs none of what
 * the journal itself loads. For programs that answer at once, or that judge a file which may be damaged.
 * @throws what the driver throws, also for a missing file
 */
export function peek(path: string): Peek {
  // without a -wal file nobody has it open, and SQLite need not make one to read it
  const mode = existsSync(`${path}-wal`) ? 'mode=ro' : 'mode=ro&immutable=1';
  const db = new Libsql(`file:${encodeURI(path).replaceAll('#', '%23').replaceAll('?', '%3f')}?${mode}`);
  return {
    all: <Row>(query: string, ...values: (string | number)[]) => db.prepare(query).all(...values) as Row[],
    close: () => void db.close(),
  };
}

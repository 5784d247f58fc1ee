import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TASK_QUEUE } from '../../domain/queues.js';
import { sqliteCode } from '../../journal/errors.js';
import { JOURNAL_MIGRATIONS } from '../../journal/migrations/index.js';
import { type Peek, peek } from '../../journal/peek.js';
import type { BlobFault, JournalFacts, ProbeLine } from './journal-look.js';
import { reason } from './words.js';

/*
 * A process of its own: the driver is synchronous, so that only this way a look at a large or damaged file can be ended
 * after a time. Prints one JSON object a line: the facts, then what the integrity check says.
 */

/** Of each kind of row, the newest so many are searched for references to blobs. */
const NEWEST = 500;

/** References as JSON of the journal holds them. */
const BLOB_REF = /"blob":"([0-9a-f]{64})","bytes":(\d+)/g;

async function probe(path: string, blobs: string): Promise<void> {
  const db = peek(path);
  try {
    const [row] = db.all<{ user_version: number }>('PRAGMA user_version');
    const version = Number(row?.user_version);
    const known = JOURNAL_MIGRATIONS.length;
    print({ facts: version === known ? await facts(db, version, blobs) : bare(version, known) });
    const found = db.all<{ quick_check: string }>('PRAGMA quick_check(3)').map(({ quick_check: text }) => text);
    print({ flaws: found.filter((text) => text !== 'ok') });
  } finally {
    db.close();
  }
}

/** Of a schema that is not this program's no table is read. */
function bare(version: number, known: number): JournalFacts {
  return { version, known, id: null, tasks: [], leases: [], blobs: { looked: 0, faults: [] } };
}

async function facts(db: Peek, version: number, blobs: string): Promise<JournalFacts> {
  const [identity] = db.all<{ id: string }>('SELECT id FROM journal');
  return {
    ...bare(version, version),
    id: identity?.id ?? null,
    tasks: db.all(
      `SELECT server, status, coalesce(iif(json_valid(input), input ->> '$.hostQueue', NULL), '${TASK_QUEUE}') AS queue, count(*) AS count
       FROM task GROUP BY server, status, queue ORDER BY status`,
    ),
    leases: db.all('SELECT * FROM lease ORDER BY host, pid'),
    blobs: await lookAtBlobs(db, blobs),
  };
}

async function lookAtBlobs(db: Peek, folder: string): Promise<JournalFacts['blobs']> {
  const wanted = new Map<string, number>();
  for (const [table, column] of [
    ['result', 'json'],
    ['message', 'json'],
    ['log', 'json'],
    ['task', 'input'],
  ] as const) {
    const newest = `SELECT ${column} AS json FROM ${table} ORDER BY rowid DESC LIMIT ${NEWEST}`;
    for (const { json } of db.all<{ json: string }>(`SELECT json FROM (${newest}) WHERE json LIKE '%"blob":%'`)) {
      for (const [, id = '', bytes] of json.matchAll(BLOB_REF)) wanted.set(id, Number(bytes));
    }
  }
  const faults: BlobFault[] = [];
  for (const [id, bytes] of wanted) {
    const [row] = db.all<{ bytes: number }>('SELECT bytes FROM blob WHERE id = ?', id);
    const found = row?.bytes ?? (await stat(join(folder, id.slice(0, 2), id)).catch(() => undefined))?.size;
    if (found !== bytes) faults.push({ blob: id, what: found === undefined ? 'missing' : 'damaged' });
  }
  return { looked: wanted.size, faults };
}

function print(line: ProbeLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

const [path = '', blobs = ''] = process.argv.slice(2);
try {
  await probe(path, blobs);
} catch (err) {
  print({ error: { code: sqliteCode(err) ?? null, message: reason(err) } });
}

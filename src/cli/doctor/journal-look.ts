import { spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskStatus } from '../../domain/outcomes.js';
import type { HostLease } from '../../journal/rows.js';
import { packageRoot } from '../../service/package.js';
import type { HomePaths } from '../../settings/paths.js';

/** ms that the process which reads the journal gets; below the limit of a row. */
const PROBE_MS = 4_000;

const PROBE = join(packageRoot, 'dist', 'cli', 'doctor', 'journal-probe.js');

export interface BlobFault {
  blob: string;
  what: 'missing' | 'damaged';
}

export interface JournalFacts {
  /** Version of the file's schema, and that of this program. */
  version: number;
  known: number;
  id: string | null;
  /** `queue` is that of the workers that work in the tasks' folders. */
  tasks: { server: string; status: TaskStatus; queue: string; count: number }[];
  /** Those that have run out, too. */
  leases: HostLease[];
  /** Of the texts that are stored apart, the newest. */
  blobs: { looked: number; faults: BlobFault[] };
}

/** What the process prints, one a line. */
export type ProbeLine =
  | { facts: JournalFacts }
  /** What the integrity check found; empty when all is well. */
  | { flaws: string[] }
  /** `code` is that of SQLite. */
  | { error: { code: string | null; message: string } };

export type JournalLook =
  | { state: 'none' }
  /** Missing, but what belongs to one is there. */
  | { state: 'lost'; beside: string }
  | { state: 'unreadable'; code: string | null; why: string }
  /** `flaws` is undefined when the check took too long. */
  | { state: 'readable'; facts: JournalFacts; bytes: number; flaws: string[] | undefined };

/** @param probeMs limit for reading and checking the file */
export async function lookAtJournal(paths: HomePaths, probeMs = PROBE_MS): Promise<JournalLook> {
  const { journal, temporalDb, blobs } = paths;
  const bytes = await sizeOf(journal);
  if (bytes === undefined) {
    if ((await sizeOf(temporalDb)) !== undefined) return { state: 'lost', beside: temporalDb };
    return (await sizeOf(`${journal}-wal`)) ? { state: 'lost', beside: `${journal}-wal` } : { state: 'none' };
  }
  if (bytes === 0) return { state: 'unreadable', code: null, why: 'it is empty' };
  const lines = await probe([journal, blobs], probeMs);
  let facts: JournalFacts | undefined;
  let flaws: string[] | undefined;
  for (const line of lines) {
    if ('facts' in line) facts = line.facts;
    else if ('flaws' in line) flaws = line.flaws;
    else if (!facts) return { state: 'unreadable', code: line.error.code, why: line.error.message };
    else flaws = [line.error.message];
  }
  if (!facts) return { state: 'unreadable', code: null, why: `it could not be read within ${probeMs / 1000} s` };
  return { state: 'readable', facts, bytes: bytes + ((await sizeOf(`${journal}-wal`)) ?? 0), flaws };
}

/** What it has printed when it ends or its time is over. */
async function probe(args: string[], ms: number): Promise<ProbeLine[]> {
  const child = spawn(process.execPath, [PROBE, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: ms,
    killSignal: 'SIGKILL',
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    out += piece;
  });
  await new Promise<void>((done, failed) => {
    child.once('error', failed);
    child.once('close', () => done());
  });
  const whole = out.slice(0, out.lastIndexOf('\n') + 1);
  return whole.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as ProbeLine]));
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size;
}

import { LonghaulError, messageOf } from '../domain/errors.js';
import { packageVersion } from '../service/package.js';

/** The `code` of an error from the database driver, or undefined when it is something else. */
export function sqliteCode(err: unknown): string | undefined {
  const code = err instanceof Error ? (err as { code?: unknown }).code : undefined;
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined;
}

/** Another connection holds the lock just now; the same call can succeed later. */
export function isBusy(err: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(sqliteCode(err) ?? '');
}

/** Turns driver errors that people can do something about into errors for people; leaves all others as they are. */
export function explain(err: unknown, path: string): unknown {
  const code = sqliteCode(err);
  if (code === undefined) {
    return err instanceof Error && err.message.includes('Unable to open connection') ? unwritable(path, err) : err;
  }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return corrupt(path, 'it is damaged or no database at all', err);
  if (/^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|PERM)/.test(code)) return unwritable(path, err);
  return err;
}

export function corrupt(path: string, what: string, cause?: unknown): LonghaulError {
  return new LonghaulError('journal-corrupt', `The journal ${path} cannot be read: ${what}.`, {
    kept: 'The file was left exactly as it is; the workspaces are not part of it.',
    next: `Stop everything that uses it, then put a backup in its place, or move it away (with its -wal and -shm files, if any) to start with an empty journal.`,
    ...(cause === undefined ? {} : { cause }),
  });
}

export function unwritable(path: string, cause: unknown): LonghaulError {
  const why = messageOf(cause);
  return new LonghaulError('journal-unwritable', `The journal ${path} cannot be opened or written: ${why}.`, {
    kept: 'Everything stored before is still there; the change that failed was not made.',
    next: 'Check the free space, the permissions and whether the disk is mounted for writing, then try again.',
    cause,
  });
}

export function locked(path: string, ms: number): LonghaulError {
  const seconds = Math.round(ms / 100) / 10;
  return new LonghaulError(
    'journal-locked',
    `The journal ${path} has been locked by another program for ${seconds} s.`,
    {
      kept: 'Everything stored before is still there; the change that had to wait was not made.',
      next: 'Find out which program holds it (for instance a database browser, or a backup that copies it), end it, then try again.',
    },
  );
}

export function newer(path: string, found: number, known: number): LonghaulError {
  const message = `The journal ${path} was written by a newer Longhaul: its schema is version ${found}, and this Longhaul ${packageVersion()} knows ${known}.`;
  return new LonghaulError('journal-newer', message, {
    kept: 'The file was left exactly as it is.',
    next: 'Use the newer version of Longhaul, or set LONGHAUL_HOME to another folder for this one.',
  });
}

/** @param what what is missing, such as `blob 3f2a…` */
export function lost(what: string): LonghaulError {
  return new LonghaulError('journal-lost', `The journal does not hold ${what}.`, {
    kept: 'Everything else in the journal is still there, and so is the workspace.',
    next: 'If the journal was restored from an older backup or LONGHAUL_HOME has changed, bring back the one the task was started with.',
  });
}

/** @param what what was to be written again, such as `task abc` */
export function conflict(what: string): LonghaulError {
  return new LonghaulError('journal-conflict', `The journal already holds ${what} with other content.`, {
    kept: 'The content stored first was kept; the second was refused.',
    next: 'This is a defect of Longhaul or of a program that writes to its journal: please report it with the log of the worker.',
  });
}

/** There is no journal, but the tasks that need one. */
export function lostJournal(journal: string, temporalDb: string): LonghaulError {
  return new LonghaulError(
    'journal-lost',
    `The journal ${journal} is missing, but ${temporalDb} is there: its tasks need that journal.`,
    {
      kept: 'Nothing was changed, and no empty journal was made in its place.',
      next: `Restore ${journal} (and blobs/) from a backup; or, to begin anew without the old tasks, run \`longhaul down\` and move ${temporalDb} away.`,
    },
  );
}

/** The caller has closed the file itself: no fault of the journal. */
export function closed(path: string): DOMException {
  return new DOMException(`${path} has been closed.`, 'AbortError');
}

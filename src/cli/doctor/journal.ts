import { isOpen } from '../../domain/outcomes.js';
import { lostJournal } from '../../journal/errors.js';
import { count } from '../text.js';
import type { JournalFacts, JournalLook } from './journal-look.js';
import { bad, type Check, type Finding, ok, warn } from './row.js';
import { size } from './words.js';

const RESTORE =
  'Stop the service (`longhaul down`), then put a backup in its place, or move it away (with its -wal and -shm files) to begin anew.';

export const journalCheck: Check = {
  name: 'journal',
  look: async ({ journal, paths }) => journalFinding(await journal(), paths.journal),
};

/** @param path of the journal's file */
export function journalFinding(look: JournalLook, path: string): Finding {
  switch (look.state) {
    case 'none':
      return ok('none yet; the first command that needs one makes it');
    case 'lost': {
      const { message, next = '' } = lostJournal(path, look.beside);
      return bad(message, next);
    }
    case 'unreadable':
      return unreadable(look, path);
    case 'readable':
      return readable(look, path);
  }
}

function unreadable({ code, why }: Extract<JournalLook, { state: 'unreadable' }>, path: string): Finding {
  if (code !== null && /^SQLITE_(BUSY|LOCKED)/.test(code))
    return warn(
      `${path} is locked by another program just now`,
      'Try again; if it stays so, find the program that holds it, such as a database browser, and end it.',
    );
  if (code === null && /unable to open/i.test(why))
    return bad(`${path} cannot be opened`, 'Correct its permissions, and those of the folders above it.');
  return bad(`${path} cannot be read: ${why}`, RESTORE);
}

function readable({ facts, bytes, flaws }: Extract<JournalLook, { state: 'readable' }>, path: string): Finding {
  const { version, known, id } = facts;
  if (version > known)
    return bad(
      `${path} was written by a newer Longhaul: its schema is version ${version}, this one knows ${known}`,
      'Use the newer version, or set LONGHAUL_HOME to another folder for this one.',
    );
  if (version === 0) return bad(`${path} is a database, but not one of Longhaul`, RESTORE);
  if (flaws && flaws.length > 0) return bad(`${path} is damaged: ${flaws.join('; ')}`, RESTORE);
  if (version === known && id === null) return bad(`${path} has lost its identity`, RESTORE);
  const check = flaws ? 'sound' : 'not checked as a whole, which takes too long';
  const schema = version === known ? `schema ${version}` : `schema ${version}, brought to ${known} by the next command`;
  return ok(`${size(bytes)}, ${schema}, ${check}; ${taskWords(facts.tasks)}`);
}

/** `3 open tasks (2 running, 1 waiting), 17 ended`. */
function taskWords(tasks: JournalFacts['tasks']): string {
  const sum = (groups: JournalFacts['tasks']) => groups.reduce((total, group) => total + group.count, 0);
  const open = tasks.filter(({ status }) => isOpen(status));
  const statuses = [...new Set(open.map(({ status }) => status))];
  const each = statuses.map((status) => `${sum(open.filter((group) => group.status === status))} ${status}`);
  const detail = each.length === 0 ? '' : ` (${each.join(', ')})`;
  return `${count(sum(open), 'open task')}${detail}, ${sum(tasks) - sum(open)} ended`;
}

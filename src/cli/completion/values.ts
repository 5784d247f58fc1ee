import { readdirSync } from 'node:fs';
import type { TaskEvent } from '../../domain/events.js';
import { OPEN_STATUSES, type TaskStatus } from '../../domain/outcomes.js';
import { type Peek, peek } from '../../journal/peek.js';
import { MODEL_IDS } from '../../model/prices.js';
import { homePaths } from '../../settings/paths.js';
import { neutralLine } from '../neutral.js';
import { fitTo } from '../text.js';
import type { Candidate, Wanted } from './complete.js';

/** Tasks that are offered at most, the newest. */
const MOST_TASKS = 100;

/** Events at the end of a task's log in which its open asks are looked for. */
const MOST_EVENTS = 500;

const ABOUT_WIDTH = 60;

/** Which tasks fit a command; any other command takes all. */
const FITTING: Readonly<Record<string, readonly TaskStatus[]>> = {
  abort: OPEN_STATUSES,
  answer: ['waiting', 'parked', 'no_worker'],
  resume: ['completed', 'budget', 'cancelled', 'failed'],
  pause: OPEN_STATUSES,
  unpause: OPEN_STATUSES,
  mode: OPEN_STATUSES,
};

/** Values by the name of a flag or an argument, from the journal and the home; starts nothing, and waits for nothing. */
export function valuesOf(wanted: Wanted, home: string): Candidate[] {
  switch (wanted.name) {
    case 'task':
      return fromJournal(home, (db) => tasks(db, FITTING[wanted.command], wanted.typed));
    case 'answer':
      return fromJournal(home, (db) => answers(db, wanted.before));
    case 'model':
    case 'plan-model':
      return MODEL_IDS.map((value) => ({ value, about: '' }));
    case 'profile':
      return profiles(home);
    case 'name':
      return wanted.command.startsWith('profile ') ? profiles(home) : [];
    default:
      return [];
  }
}

/** A journal that is missing, locked, damaged or of another version completes nothing. */
function fromJournal(home: string, look: (db: Peek) => Candidate[]): Candidate[] {
  let db: Peek | undefined;
  try {
    db = peek(homePaths(home).journal);
    return look(db);
  } catch {
    return [];
  } finally {
    db?.close();
  }
}

function tasks(db: Peek, statuses: readonly TaskStatus[] | undefined, typed: string): Candidate[] {
  const among = statuses ? `AND status IN (${statuses.map(() => '?').join(', ')})` : '';
  const query = `SELECT id, status, title FROM task WHERE substr(id, 1, length(?)) = ? ${among}
    ORDER BY created DESC, id DESC LIMIT ${MOST_TASKS}`;
  const rows = db.all<{ id: string; status: TaskStatus; title: string }>(query, typed, typed, ...(statuses ?? []));
  return rows.map(({ id, status, title }) => ({
    value: id,
    about: fitTo(`${status} · ${neutralLine(JSON.parse(title) as string)}`, ABOUT_WIDTH),
  }));
}

/** First the ids of the open asks, then what answers one. */
function answers(db: Peek, [task = '', ...words]: readonly string[]): Candidate[] {
  const plain = ['yes', 'no'].map((value) => ({ value, about: '' }));
  if (words.length === 0) return [...openAsks(db, task), ...plain];
  return words.length === 1 && !plain.some(({ value }) => value === words[0]) ? plain : [];
}

function openAsks(db: Peek, prefix: string): Candidate[] {
  const found = db.all<{ id: string }>(
    'SELECT id FROM task WHERE substr(id, 1, length(?)) = ? LIMIT 2',
    prefix,
    prefix,
  );
  const [task] = found;
  if (!task || found.length > 1) return [];
  const newest = `SELECT json FROM log WHERE task = ? ORDER BY seq DESC LIMIT ${MOST_EVENTS}`;
  const closed = new Set<string>();
  return db.all<{ json: string }>(newest, task.id).flatMap(({ json }) => {
    const event = JSON.parse(json) as TaskEvent;
    if (event.type === 'ask_closed') closed.add(event.ask);
    if (event.type !== 'ask' || closed.has(event.ask.id)) return [];
    return [{ value: event.ask.id, about: fitTo(neutralLine(event.ask.question), ABOUT_WIDTH) }];
  });
}

/** Those of shells' settings have a hash for a name, and nobody types them. */
function profiles(home: string): Candidate[] {
  try {
    const names = readdirSync(homePaths(home).profiles).flatMap((file) => /^([^.].*)\.json$/.exec(file)?.[1] ?? []);
    return names.filter((name) => !/^p-[0-9a-f]{12}$/.test(name)).map((value) => ({ value, about: '' }));
  } catch {
    return [];
  }
}

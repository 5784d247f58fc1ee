import { isOpen } from '../domain/outcomes.js';
import { startState } from '../domain/start-state.js';
import type { CarriedState, TaskInput } from '../domain/task.js';
import type { TurnEnd } from '../domain/turn.js';
import type { Journal } from '../journal/journal.js';
import { storedEvents } from '../journal/log-state.js';
import type { TaskRow, TurnRow } from '../journal/rows.js';
import { SinceStart } from './since-start.js';

/** Where a task stands. */
export interface Stand {
  state: CarriedState;
  /** Its last run has not written its end: this was read from the journal. */
  rebuilt: boolean;
  /** The last message is the request of a turn that has no answer. */
  unanswered: boolean;
}

/**
 * Where a task stands: as its last run has left it, or, when that is open, was ended from outside or is gone from the
 * server, as the journal has it: what the run began from, and all it has said and done since.
 * @throws LonghaulError `journal-lost`
 */
export async function standOf(journal: Journal, row: TaskRow): Promise<Stand> {
  const stored = row.carried === null ? undefined : (JSON.parse(row.carried) as CarriedState);
  if (stored && !stored.resumed && !isOpen(row.status)) return { state: stored, rebuilt: false, unanswered: false };
  const input = JSON.parse(row.input) as TaskInput;
  const base = stored ?? startState(input, row.created);
  let since = new SinceStart(base);
  for await (const { event } of storedEvents(journal, row.task)) {
    // what stands above belongs to earlier runs, whose end the base is
    if (stored && event.type === 'status' && event.status === 'starting') since = new SinceStart(base);
    since.apply(event);
  }
  const { place, unanswered } = await placeOf(journal, base, since);
  const { todo, state } = since;
  for (const part of OF_A_RUN) delete state[part];
  Object.assign(state, place);
  state.turns = row.turns;
  state.used = await journal.treeUse(row.task);
  if (row.profile !== null) state.profile = row.profile;
  if (todo) state.todo = { text: await journal.putText(todo.text), done: todo.done, total: todo.total };
  return { state, rebuilt: true, unanswered };
}

type Place = Pick<CarriedState, 'head' | 'carryOver' | 'previous'>;

/** What only a run that goes on has, or what the journal knows better. */
const OF_A_RUN = ['carryOver', 'previous', 'inProgress', 'resumed', 'pausedAt'] as const;

/** How the conversation ends: with the newest turn, or with the rewind that came after it. */
async function placeOf(
  journal: Journal,
  base: CarriedState,
  since: SinceStart,
): Promise<{ place: Place; unanswered: boolean }> {
  if (since.rewound) {
    const { head, carryOver, turn: pending } = since.rewound;
    const turn = pending === undefined ? undefined : await journal.getTurn(pending);
    const previous = turn && (await endOf(journal, turn, since));
    return { place: { head, ...(carryOver && { carryOver }), ...(previous && { previous }) }, unanswered: false };
  }
  const turn = since.turn === undefined ? undefined : await journal.getTurn(since.turn);
  if (!turn?.head) {
    const { head, carryOver, previous } = base;
    return { place: { head, ...(carryOver && { carryOver }), ...(previous && { previous }) }, unanswered: false };
  }
  if (turn.state === 'closed' && turn.blocks.length > 0) {
    return { place: { head: turn.head, previous: await endOf(journal, turn, since) }, unanswered: false };
  }
  // what was asked begins the next request, so that roles alternate and nothing is said twice
  const asked = (await journal.listMessages(turn.head)).at(-1);
  return {
    place: { head: asked?.parent ?? null, carryOver: { message: turn.head, blocks: 'all' } },
    unanswered: true,
  };
}

/** What a turn leaves whose calls nobody goes on with. */
async function endOf(journal: Journal, { turn, calls }: TurnRow, since: SinceStart): Promise<TurnEnd> {
  const verdicts = since.verdictsOf(turn);
  const denied = verdicts.some(({ status }) => status === 'denied');
  for (const { call, block, effect } of calls) {
    if (effect === 'pure' || effect === 'control' || !since.begun.has(call)) continue;
    if (await journal.getResult(call)) continue;
    const said = verdicts.find((one) => one.block === block);
    if (said) said.status = 'unknown';
    else verdicts.push({ block, status: 'unknown' });
  }
  return { turn, verdicts, rest: denied ? 'skipped' : 'interrupted' };
}

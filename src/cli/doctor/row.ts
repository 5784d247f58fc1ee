import type { Examination } from './examination.js';

/** `warn`: works, but deserves a look; `bad`: something that tasks need does not work. */
export type RowState = 'ok' | 'warn' | 'bad';

/** What was found of one thing, for people; `next` says what to do where that is not `ok`. */
export interface Finding {
  state: RowState;
  found: string;
  next?: string;
}

export interface Row extends Finding {
  name: string;
}

/** One row of the table. It starts, fetches and changes nothing. */
export interface Check {
  name: string;
  /** @returns undefined where the row does not apply */
  look(exam: Examination): Promise<Finding | undefined>;
}

export function ok(found: string): Finding {
  return { state: 'ok', found };
}

export function warn(found: string, next: string): Finding {
  return { state: 'warn', found, next };
}

export function bad(found: string, next: string): Finding {
  return { state: 'bad', found, next };
}

/** All that is wrong in one finding, as bad as the worst of them; `fine` when nothing is. */
export function together(faults: readonly Finding[], fine: Finding): Finding {
  if (faults.length === 0) return fine;
  const next = faults.flatMap((fault) => fault.next ?? []).join(' ');
  return {
    state: faults.some(({ state }) => state === 'bad') ? 'bad' : 'warn',
    found: faults.map(({ found }) => found).join('; '),
    ...(next !== '' && { next }),
  };
}

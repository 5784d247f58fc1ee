import { HASH_LENGTH } from './hash.js';

/** Longest cycle of calls that counts as one: A, A-B, A-B-C, A-B-C-D. */
const LONGEST_CYCLE = 4;
/** Repetitions after which the model is told, and after which a person is asked; the original's 3 and 5. */
const WARN = 3;
const ESCALATE = 5;
/** Calls that have to be remembered. */
const WINDOW = LONGEST_CYCLE * ESCALATE;

/** Adds a call's hash to those made lately. @param recent hashes joined without a separator, oldest first */
export function rememberCall(recent: string, hash: string): string {
  return (recent + hash).slice(-WINDOW * HASH_LENGTH);
}

/**
 * Whether the newest calls repeat themselves without an end: the same one, or the same few in turn. Said once at the
 * third repetition; from the fifth on it is `escalate`.
 */
export function judgeLoop(recent: string): 'none' | 'warn' | 'escalate' {
  let verdict: 'none' | 'warn' = 'none';
  for (let cycle = 1; cycle <= LONGEST_CYCLE; cycle++) {
    const calls = repeatingCalls(recent, cycle);
    if (calls >= cycle * ESCALATE) return 'escalate';
    if (calls === cycle * WARN) verdict = 'warn';
  }
  return verdict;
}

/** How many of the newest calls are as the one `cycle` before them, those first ones included. */
function repeatingCalls(recent: string, cycle: number): number {
  const count = recent.length / HASH_LENGTH;
  const at = (index: number) => recent.slice(index * HASH_LENGTH, (index + 1) * HASH_LENGTH);
  let same = 0;
  while (same + cycle < count && at(count - 1 - same) === at(count - 1 - same - cycle)) same++;
  return same === 0 ? 0 : same + cycle;
}

import type { AnswerCall } from '../domain/calls.js';
import type { CallPage } from '../domain/turn.js';

/** Bytes of calls that travel in one payload (a payload has 4 KB at most). */
const PAGE_BYTES = 3_000;

/** As many calls as one payload carries, at least one. */
export function firstPage(calls: readonly AnswerCall[]): CallPage {
  const page: AnswerCall[] = [];
  let bytes = 0;
  for (const call of calls) {
    bytes += Buffer.byteLength(JSON.stringify(call));
    if (page.length > 0 && bytes > PAGE_BYTES) return { calls: page, next: call.block };
    page.push(call);
  }
  return { calls: page };
}

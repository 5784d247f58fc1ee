import type { AnswerCall } from '../domain/calls.js';
import type { TurnKey } from '../domain/ids.js';
import type { CallReady } from '../domain/turn.js';

/** Calls of one streaming answer, as they are announced. Signals of other turns are dropped. */
export class CallInbox {
  readonly calls: AnswerCall[] = [];

  constructor(private readonly turn: TurnKey) {}

  receive(ready: CallReady): void {
    if (ready?.turn !== this.turn || typeof ready.call?.block !== 'number') return;
    for (const call of [...(ready.ran ?? []), ready.call]) {
      const last = this.calls.at(-1)?.block ?? -1;
      if (call.block > last) this.calls.push(call);
    }
  }
}

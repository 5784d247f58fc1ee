import { describe, expect, it } from 'vitest';
import { preparedCall, RESERVE, taskOf, testJournal, textOf, usageOf } from '../../test/support/journal.js';
import type { ToolUseBlock } from '../domain/blocks.js';
import { callKey } from '../domain/ids.js';
import { type Journal, Superseded } from './journal.js';

/** All ways of doing the steps of two attempts one after the other, each one's own in their order. */
function merges(a: number, b: number): ('a' | 'b')[][] {
  if (a === 0 && b === 0) return [[]];
  const withA = a > 0 ? merges(a - 1, b).map((rest) => ['a' as const, ...rest]) : [];
  const withB = b > 0 ? merges(a, b - 1).map((rest) => ['b' as const, ...rest]) : [];
  return [...withA, ...withB];
}

/** Does steps until one finds that another attempt has taken its place, or that nothing is left to do. */
class Actor {
  over = false;
  superseded = false;
  private next = 0;
  constructor(private readonly steps: readonly (() => Promise<'go on' | 'over'>)[]) {}

  async step(): Promise<void> {
    const step = this.steps[this.next++];
    if (this.over || !step) return;
    try {
      if ((await step()) === 'over') this.over = true;
    } catch (err) {
      if (!(err instanceof Superseded)) throw err;
      this.over = true;
      this.superseded = true;
    }
  }
}

const goOn = async (act: Promise<unknown>) => {
  await act;
  return 'go on' as const;
};

describe('two attempts at once', () => {
  const TASK = 't';
  let journal: Journal;
  const open = async () => {
    journal = await testJournal();
    await journal.createTask(taskOf(TASK));
  };

  /** An attempt as an execution of the request makes it: a text, a call that starts, another text, the end. */
  function attempt(turn: string, dispatch: number, claims: number[]): Actor {
    let number = 0;
    const call: ToolUseBlock = { type: 'tool_use', name: 'read_file', input: { path: 'a' }, block: 1 };
    const text = (index: number) => {
      const words = `text ${index} of ${number}`;
      const content = { type: 'text', text: words } as const;
      return journal.putBlock(turn, number, { index, content, say: textOf(turn, number, index, words) });
    };
    return new Actor([
      async () => {
        const claim = await journal.claimTurn({ task: TASK, turn }, null, RESERVE, { dispatch });
        if (claim.claim !== 'granted') return 'over';
        number = claim.attempt;
        claims.push(number);
        return 'go on';
      },
      () => goOn(text(0)),
      async () => {
        await journal.putBlock(turn, number, { index: 1, content: call, call: preparedCall(turn, 1) });
        return goOn(journal.commitTurn(turn, number));
      },
      () => goOn(text(2)),
      async () => {
        await journal.closeTurn(turn, number, { stop: 'tool_use', usage: usageOf(turn, number) });
        return 'over';
      },
    ]);
  }

  it('of a request, in whatever order their steps come: one answer, each attempt paid for once, one copy shown', async () => {
    await open();
    const orders = merges(5, 5);
    expect(orders).toHaveLength(252);
    for (const [n, order] of orders.entries()) {
      const turn = `turn-${n}`;
      const claims: number[] = [];
      const before = await journal.totals(TASK);
      const seq = (await journal.readEvents(TASK, 0, 1_000_000)).at(-1)?.seq ?? 0;
      const actors = { a: attempt(turn, 1, claims), b: attempt(turn, 2, claims) };
      for (const who of order) await actors[who].step();
      const row = (await journal.getTurn(turn))!;
      const label = order.join('');
      expect(row.state, label).toBe('closed');
      const texts = row.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
      expect(
        texts.every((text) => text.endsWith(` of ${row.attempt}`)),
        label,
      ).toBe(true);
      expect(row.calls.length, label).toBe(1);
      // whoever was overtaken before its answer counted has lost it; after that nobody else asks
      expect(actors.a.superseded && actors.b.superseded, label).toBe(false);
      const used = await journal.totals(TASK);
      expect(used.requests - before.requests, label).toBe(claims.length);
      const events = (await journal.readEvents(TASK, seq, 100)).map(({ event }) => event);
      const shown = events.flatMap((event) => (event.type === 'say' && event.say === 'text' ? [event] : []));
      const retracted = new Set(events.flatMap((event) => (event.type === 'retract' ? [event.attempt] : [])));
      const kept = shown.filter((event) => !retracted.has(event.attempt)).map(({ text }) => text);
      expect(kept, label).toEqual(texts);
      expect(events.filter((event) => event.type === 'say' && event.say === 'api_req_finished').length, label).toBe(1);
    }
  }, 120_000);

  it('of a call, in whatever order their steps come: an overtaken one has no effect, and both report the same', async () => {
    await open();
    for (const [n, order] of merges(4, 4).entries()) {
      const call = callKey(`call-${n}`, 0);
      const effects: number[] = [];
      const claims: number[] = [];
      const results: string[] = [];
      const execution = (dispatch: number) => {
        let number = 0;
        return new Actor([
          async () => {
            number = await journal.claimCall(TASK, call, dispatch);
            claims.push(number);
            return 'go on';
          },
          () => goOn(journal.putIntent(call, number, '"about to"')),
          () => goOn(journal.whileClaimed(call, number, () => effects.push(number))),
          async () => {
            const text = { text: `execution ${number}` };
            const row = { call, status: 'done', text, excerpt: '', mistake: false } as const;
            const isFirst = (await journal.getResult(call)) === undefined;
            const stored = await journal.putResult(row, [], number);
            if (isFirst) expect(number, 'only the newest execution says how it went').toBe(Math.max(...claims));
            if ('text' in stored.text) results.push(stored.text.text);
            return 'over';
          },
        ]);
      };
      const actors = { a: execution(1), b: execution(2) };
      for (const who of order) {
        const newest = Math.max(0, ...claims);
        const before = effects.length;
        await actors[who].step();
        if (effects.length > before) expect(effects.at(-1), order.join('')).toBe(newest);
      }
      const label = order.join('');
      expect(effects.length, label).toBeGreaterThan(0);
      expect(new Set(results).size, label).toBe(1);
      expect(actors.a.superseded && actors.b.superseded, label).toBe(false);
    }
  }, 60_000);
});

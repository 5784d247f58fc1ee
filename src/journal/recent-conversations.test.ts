import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testJournal } from '../../test/support/journal.js';
import { fitWindow } from '../context/window.js';
import type { Message } from '../domain/blocks.js';

const said = (role: Message['role'], text: string): Message => ({ role, content: [{ type: 'text', text }] });

/** Turns of these lengths after a first message. */
function conversation(lengths: readonly number[]): Message[] {
  const first = said('user', 'the task');
  return [
    first,
    ...lengths.map((length, at) => said(at % 2 === 0 ? 'assistant' : 'user', `${at}:${'x'.repeat(length)}`)),
  ];
}

test('what was read before never shows: any order of reads gives what a fresh journal gives', async () => {
  const journal = await testJournal();
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 40 }),
      fc.array(fc.record({ upTo: fc.nat(40), limit: fc.constantFrom(100, 1_000, 5_000, Number.POSITIVE_INFINITY) }), {
        minLength: 1,
        maxLength: 8,
      }),
      async (lengths, reads) => {
        const messages = [said('user', `task ${++count}`), ...conversation(lengths).slice(1)];
        const heads: (string | null)[] = [];
        for (const message of messages) heads.push(await journal.appendMessages('t', heads.at(-1) ?? null, [message]));
        for (const { upTo, limit } of reads) {
          // what is sent ends with a user's message
          const at = 2 * Math.floor(Math.min(upTo, messages.length - 1) / 2);
          const read = await journal.readConversation(heads[at] ?? null, limit);
          const all = messages.slice(0, at + 1);
          expect(read.messages[0]).toEqual(all[0]);
          const rest = read.messages.slice(1);
          expect(rest).toEqual(rest.length === 0 ? [] : all.slice(-rest.length));
          const between = all.slice(1, all.length - rest.length);
          expect(read.skipped).toBe(between.reduce((sum, one) => sum + JSON.stringify(one).length, 0));
          const known = rest.reduce((sum, one) => sum + JSON.stringify(one).length, 0);
          if (between.length > 0) expect(known).toBeGreaterThanOrEqual(limit);
          const budget = limit / 10;
          if (Number.isFinite(limit)) {
            expect(fitWindow(read, budget)).toEqual(fitWindow({ messages: all, skipped: 0 }, budget));
          }
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('a long conversation grows at its end, and is whole again when all of it is asked for', async () => {
  const journal = await testJournal();
  const messages = conversation(Array.from({ length: 300 }, () => 2_000));
  const head = await journal.appendMessages('t', null, messages);
  const early = await journal.readConversation(head, 50_000);
  const more = await journal.appendMessages('t', head, [said('assistant', 'a'), said('user', 'b')]);
  const grown = await journal.readConversation(more, 50_000);
  expect(grown.messages.slice(-2)).toEqual([said('assistant', 'a'), said('user', 'b')]);
  expect(grown.messages.slice(0, early.messages.length)).toEqual(early.messages);
  expect((await journal.readConversation(more)).messages).toHaveLength(303);
});

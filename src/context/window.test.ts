import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../domain/blocks.js';
import { CHARS_PER_TOKEN } from '../domain/size.js';
import { fitWindow, LEFT_OUT } from './window.js';

const task: Message = { role: 'user', content: [{ type: 'text', text: '<task>' }] };
const turn = (id: number, size: number): Message[] => [
  { role: 'assistant', content: [{ type: 'tool_use', id: `c${id}`, name: 'read_file', input: {} }] },
  {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: `c${id}`, content: [{ type: 'text', text: 'x'.repeat(size) }] }],
  },
];
const sizes = fc.array(fc.nat(3_000), { maxLength: 60 });

describe('fitWindow', () => {
  it('keeps the task, the newest turn, and pairs of call and result, and stays within the budget', () => {
    fc.assert(
      fc.property(sizes, (all) => {
        const conversation = [task, ...all.flatMap((size, at) => turn(at, size))];
        const budget = 2_000;
        const kept = fitWindow({ messages: conversation, skipped: 0 }, budget);
        expect(kept[0]?.content[0]).toEqual(task.content[0]);
        expect(kept.slice(1)).toEqual(kept.length === 1 ? [] : conversation.slice(-(kept.length - 1)));
        expect((kept.length - 1) % 2).toBe(0);
        if (kept.length > 3) expect(JSON.stringify(kept).length).toBeLessThan(budget * CHARS_PER_TOKEN + 400);
        expect(JSON.stringify(kept).includes(LEFT_OUT)).toBe(kept.length < conversation.length);
      }),
    );
  });

  it('gives the same when only what can fit was read', () => {
    const length = (messages: Message[]) => messages.reduce((sum, one) => sum + JSON.stringify(one).length, 0);
    fc.assert(
      fc.property(sizes, fc.nat(4_000), (all, more) => {
        const messages = [task, ...all.flatMap((size, at) => turn(at, size))];
        const budget = 2_000;
        let from = messages.length;
        while (from > 1 && length(messages.slice(from)) < budget * CHARS_PER_TOKEN + more) from--;
        const read = { messages: [task, ...messages.slice(from)], skipped: length(messages.slice(1, from)) };
        expect(fitWindow(read, budget)).toEqual(fitWindow({ messages, skipped: 0 }, budget));
      }),
    );
  });

  it('cuts seldom: a conversation that grows keeps its prefix for many turns', () => {
    const cuts = new Set<number>();
    for (let turns = 0; turns < 200; turns++) {
      const conversation = [task, ...Array.from({ length: turns }, (_, at) => turn(at, 500)).flat()];
      cuts.add(conversation.length - fitWindow({ messages: conversation, skipped: 0 }, 4_000).length);
    }
    expect(cuts.size).toBeGreaterThan(3);
    expect(cuts.size).toBeLessThan(25);
  });
});

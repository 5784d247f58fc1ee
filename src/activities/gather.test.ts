import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESERVE } from '../../test/support/journal.js';
import type { AnswerBlock, Message } from '../domain/blocks.js';
import { callKey, toolUseId } from '../domain/ids.js';
import { DEFAULT_TASK_SETTINGS } from '../domain/settings.js';
import type { StopReason, StreamInput, TurnEnd } from '../domain/turn.js';
import { NO_USAGE } from '../domain/usage.js';
import type { Journal } from '../journal/journal.js';
import { openJournal } from '../journal/open.js';
import { INTERRUPTED, INTERRUPTED_BEFORE_END, NO_ANSWER } from '../prompts/notices.js';
import { gather } from './gather.js';

describe('gather', () => {
  const home = mkdtempSync(join(tmpdir(), 'longhaul-gather-'));
  let journal: Journal;
  let count = 0;
  beforeAll(async () => {
    journal = await openJournal({ home });
  });
  afterAll(async () => {
    await journal.close();
    rmSync(home, { recursive: true, force: true });
  });

  const newTask = async () => {
    const task = `task${++count}`;
    await journal.createTask({ task, workspace: `/w/${task}`, model: 'm', title: 't', input: '{}' });
    return task;
  };

  const inputOf = (task: string, turn: string, more: Partial<StreamInput>): StreamInput => ({
    task,
    journal: journal.id,
    workspace: '/w',
    epoch: 0,
    turn,
    number: 1,
    head: null,
    messages: [],
    notices: [],
    settings: { ...DEFAULT_TASK_SETTINGS, model: 'm', profile: 'p', policy: { yolo: true, approve: [] } },
    ...more,
  });

  /** Gathers and claims, as a request does. @returns the head */
  const ask = async (input: StreamInput) => {
    const { head, opening, events } = await gather(input, journal);
    const { task, turn } = input;
    const more = { ...(opening && { opening }), events: () => events };
    await journal.claimTurn({ task, turn }, head, RESERVE, more);
    return head;
  };

  /** A closed turn with these blocks after the task's first message. */
  const closedTurn = async (task: string, turn: string, blocks: AnswerBlock[], stop: StopReason = 'tool_use') => {
    const first = inputOf(task, turn, { messages: [{ as: 'task', text: { text: 'Do it.' } }] });
    const head = await ask(first);
    for (const [index, content] of blocks.entries()) await journal.putBlock(turn, 1, { index, content });
    const usage = { turn, attempt: 1, model: 'm', usage: NO_USAGE, cost: 0, estimated: false };
    await journal.closeTurn(turn, 1, { stop, usage });
    return head;
  };

  const next = async (task: string, turn: string, head: string | null, end: Omit<TurnEnd, 'turn'>) => {
    const input = inputOf(task, `${turn}-next`, { head, previous: { turn, ...end } });
    return (await gather(input, journal)).conversation;
  };

  it('gives every call exactly one result, in order, before any text, whatever became of it', async () => {
    const fate = fc.constantFrom(
      'stored',
      'stored_error',
      'denied',
      'skipped',
      'unknown',
      'none',
      'bad_json',
      'truncated',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fate, { minLength: 1, maxLength: 8 }), fc.boolean(), async (fates, text) => {
        const task = await newTask();
        const turn = `turn-${task}`;
        const calls = fates.map((one, at): AnswerBlock => {
          const block = { type: 'tool_use' as const, name: 'read_file', input: { path: 'a' }, block: at };
          return one === 'bad_json' || one === 'truncated'
            ? { ...block, problem: { kind: one, message: 'why' } }
            : block;
        });
        const head = await closedTurn(task, turn, text ? [...calls, { type: 'text', text: 'so' }] : calls);
        const verdicts: TurnEnd['verdicts'] = [];
        for (const [block, one] of fates.entries()) {
          const call = callKey(turn, block);
          if (one === 'stored' || one === 'stored_error') {
            const status = one === 'stored' ? 'done' : 'error';
            const row = { call, status, text: { text: ' ' }, excerpt: '', mistake: false } as const;
            await journal.putResult(row, []);
          } else if (one === 'denied' || one === 'skipped' || one === 'unknown') {
            verdicts.push({ block, status: one });
          }
        }
        const { messages } = await next(task, turn, head, { verdicts, rest: 'interrupted' });
        const [answer, results] = messages.slice(-2) as [Message, Message];
        const ids = fates.map((_, block) => toolUseId(callKey(turn, block)));
        expect(answer.content.flatMap((b) => (b.type === 'tool_use' ? [b.id] : []))).toEqual(ids);
        expect(results.content.map((b) => (b.type === 'tool_result' ? b.tool_use_id : b.type))).toEqual(ids);
        for (const block of results.content) {
          if (block.type !== 'tool_result') throw new Error('no result');
          expect(block.content).toMatchObject([{ type: 'text', text: expect.stringMatching(/\S/) }]);
          expect(block.is_error === true).toBe(fates[ids.indexOf(block.tool_use_id)] !== 'stored');
        }
      }),
      { numRuns: 30 },
    );
  });

  it('adds what people said once, however often the turn is asked', async () => {
    const task = await newTask();
    const head = await closedTurn(task, `turn-${task}`, [{ type: 'text', text: 'hello' }]);
    const input = inputOf(task, `${task}-2`, {
      head,
      previous: { turn: `turn-${task}`, verdicts: [], rest: 'interrupted' },
      notices: ['no_tool_used'],
      messages: [{ as: 'user_message', text: { text: 'token-1' } }],
    });
    const first = await gather(input, journal);
    await ask(input);
    const later = { ...input, messages: [{ as: 'user_message' as const, text: { text: 'token-2' } }] };
    const again = await gather(later, journal);
    expect(again).toEqual({ head: first.head, conversation: first.conversation, events: [] });
    expect(await ask(later)).toBe(first.head);
    expect(JSON.stringify(first.conversation).split('token-1')).toHaveLength(2);
    const said = (await journal.readEvents(task, 0)).filter(
      ({ event }) => event.type === 'say' && event.say === 'user_feedback',
    );
    expect(said).toHaveLength(1);
  });

  it.each([
    ['a whole one', 'tool_use', [], false],
    ['one that broke off', 'interrupted', [], true],
    ['one that says already why', 'interrupted', [{ type: 'text', text: INTERRUPTED } as const], false],
  ] as const)('says of an answer that it was interrupted, once: %s', async (_, stop, more, isSaid) => {
    const task = await newTask();
    const turn = `turn-${task}`;
    const head = await closedTurn(task, turn, [{ type: 'text', text: 'I look.' }, ...more], stop);
    const { messages } = await next(task, turn, head, { verdicts: [], rest: 'interrupted' });
    const marker = { type: 'text', text: INTERRUPTED_BEFORE_END };
    expect(messages[1]?.content).toEqual([{ type: 'text', text: 'I look.' }, ...more, ...(isSaid ? [marker] : [])]);
  });

  it('keeps roles alternating after an answer with nothing in it, and no thinking at its end', async () => {
    const task = await newTask();
    const thinking = { type: 'thinking', thinking: 'hm', signature: 's' } as const;
    const head = await closedTurn(task, `turn-${task}`, [thinking]);
    const { messages } = await next(task, `turn-${task}`, head, { verdicts: [], rest: 'interrupted' });
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(messages[1]?.content).toEqual([thinking, { type: 'text', text: NO_ANSWER }]);
    expect(messages[2]?.content).toHaveLength(1);
  });
});

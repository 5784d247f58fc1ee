import Libsql from 'libsql';
import { expect, test } from 'vitest';
import {
  granted,
  preparedCall,
  RESERVE,
  taskOf,
  tempHome,
  testJournal,
  textOf,
  usageOf,
} from '../../test/support/journal.js';
import type { ToolUseBlock } from '../domain/blocks.js';
import { homePaths } from '../settings/paths.js';
import { type Journal, Superseded } from './journal.js';

const use: ToolUseBlock = { type: 'tool_use', name: 'read_file', input: { path: 'a' }, block: 1 };

test('what can be said only of an answer that counts is said with its commit, its blocks or its end, once', async () => {
  const { journal } = await begun();
  await granted(journal, 't', 'u', 'head');
  const news = (n: number) => [{ key: `k${n}`, event: { type: 'say', say: 'info', text: `n${n}` } as const }];
  await journal.putBlock('u', 1, { index: 0, content: { type: 'text', text: 'x' }, events: [] });
  await journal.commitTurn('u', 1, news(1));
  await journal.commitTurn('u', 1, news(1));
  const block = { index: 1, content: use, call: preparedCall('u', 1), events: news(2) };
  await journal.putBlock('u', 1, block);
  await journal.putBlock('u', 1, block);
  const last = { index: 2, content: { ...use, block: 2 }, call: preparedCall('u', 2), events: news(3) };
  await journal.closeTurn('u', 1, { stop: 'tool_use', usage: usageOf('u', 1), blocks: [last] });
  const events = await journal.readEvents('t', 0);
  const said = events.flatMap(({ event }) => (event.type === 'say' && event.say === 'info' ? [event.text] : []));
  expect(said).toEqual(['n1', 'n2', 'n3']);
});

test('a whole turn: blocks in any order come back in theirs, with usage, cost and what people see', async () => {
  const { journal, home } = await begun();
  expect(await granted(journal, 't', 'u', 'head')).toEqual({
    claim: 'granted',
    attempt: 1,
    head: 'head',
    maxTokens: 4000,
  });
  const call = preparedCall('u', 1);
  await journal.putBlock('u', 1, { index: 1, content: use, call });
  await journal.commitTurn('u', 1);
  await journal.commitTurn('u', 1);
  const text = { type: 'text' as const, text: 'x\0\ud800' };
  await journal.putBlock('u', 1, { index: 0, content: text, say: textOf('u', 1, 0, 'x') });
  expect((await journal.getTurn('u'))?.state).toBe('committed');
  expect(ledger(home)).toEqual([{ attempt: 1, settled: 0 }]);
  const closed = await journal.closeTurn('u', 1, { stop: 'tool_use', usage: usageOf('u', 1) });
  expect(closed).toEqual({
    turn: 'u',
    task: 't',
    head: 'head',
    attempt: 1,
    state: 'closed',
    stop: 'tool_use',
    blocks: [text, use],
    calls: [call],
    usage: usageOf('u', 1).usage,
    cost: 0.25,
  });
  expect(await journal.getTurn('u')).toEqual(closed);
  expect((await log(journal)).map((event) => ('say' in event ? event.say : event.type))).toEqual([
    'text',
    'api_req_finished',
  ]);
  expect(ledger(home)).toEqual([{ attempt: 1, settled: 1 }]);
  expect(await journal.totals('t')).toEqual({ usage: usageOf('u', 1).usage, cost: 0.25, requests: 1 });
  expect(await journal.getTask('t')).toMatchObject({ turns: 1, cost: 0.25 });
});

test('closing again with the same content is nothing; with other content it is an error', async () => {
  const { journal } = await begun();
  await granted(journal, 't', 'u');
  const end = { stop: 'end_turn' as const, usage: usageOf('u', 1), extra: [{ type: 'text' as const, text: 'e' }] };
  const first = await journal.closeTurn('u', 1, end);
  expect(await journal.closeTurn('u', 1, end)).toEqual(first);
  expect(await journal.totals('t')).toMatchObject({ requests: 1 });
  const other = journal.closeTurn('u', 1, { ...end, stop: 'refusal' });
  await expect(other).rejects.toMatchObject({ slug: 'journal-conflict' });
});

test('extra blocks: a call at its own number, text after all others', async () => {
  const { journal } = await begun();
  await granted(journal, 't', 'u');
  await journal.putBlock('u', 1, { index: 0, content: { type: 'text', text: 'a' } });
  const cutCall: ToolUseBlock = { ...use, block: 2, input: {}, problem: { kind: 'truncated', message: 'cut' } };
  const extra = [cutCall, { type: 'text' as const, text: 'z' }];
  const row = await journal.closeTurn('u', 1, { stop: 'max_tokens', usage: usageOf('u', 1), extra });
  expect(row.blocks).toEqual([{ type: 'text', text: 'a' }, cutCall, { type: 'text', text: 'z' }]);
});

test('a block written again is nothing; with other content it is an error', async () => {
  const { journal } = await begun();
  await granted(journal, 't', 'u');
  const block = { index: 0, content: { type: 'text' as const, text: 'a' }, say: textOf('u', 1, 0, 'a') };
  await journal.putBlock('u', 1, block);
  await journal.putBlock('u', 1, block);
  expect(await log(journal)).toHaveLength(1);
  const other = journal.putBlock('u', 1, { ...block, content: { type: 'text', text: 'b' } });
  await expect(other).rejects.toMatchObject({ slug: 'journal-conflict' });
});

test('a claim takes an open attempt over: it is retracted, its usage estimated, its writes refused', async () => {
  const { journal, home } = await begun();
  await granted(journal, 't', 'u', 'first');
  await journal.putBlock('u', 1, { index: 0, content: { type: 'text', text: 'x'.repeat(80) } });
  const piece = { task: 't', turn: 'u', attempt: 1, kind: 'text' as const };
  await journal.addPartial({ ...piece, stream: 'u:1', offset: 0, text: 'y'.repeat(30) });
  await journal.addPartial({ ...piece, stream: 'u:1', offset: 30, text: 'y'.repeat(10) });
  expect(await granted(journal, 't', 'u', 'second')).toMatchObject({ attempt: 2, head: 'first' });
  expect(await log(journal)).toEqual([{ type: 'retract', turn: 'u', attempt: 1, reason: expect.any(String) }]);
  const totals = await journal.totals('t');
  expect(totals).toMatchObject({ requests: 1, usage: { inputTokens: 1000, outputTokens: 30 } });
  expect(totals.cost).toBeCloseTo(0.04);
  expect(ledger(home)).toEqual([
    { attempt: 1, settled: 1 },
    { attempt: 2, settled: 0 },
  ]);
  await refuses(journal, 'u', 1);
  expect(await journal.getTurn('u')).toMatchObject({ attempt: 2, state: 'open', blocks: [], calls: [] });
  expect(await journal.readPartials('t', 0)).toEqual([]);
});

test('a claim closes a committed turn with what it has, and refuses its old attempt', async () => {
  const { journal, home } = await begun();
  await granted(journal, 't', 'u');
  const call = preparedCall('u', 0);
  await journal.putBlock('u', 1, { index: 0, content: { ...use, block: 0 }, call });
  await journal.commitTurn('u', 1);
  const claims = await Promise.all([1, 2].map(() => journal.claimTurn({ task: 't', turn: 'u' }, null, RESERVE)));
  for (const claim of claims) {
    expect(claim).toMatchObject({ claim: 'closed', turn: { state: 'closed', stop: 'interrupted', attempt: 1 } });
    expect(claim).toMatchObject({ turn: { blocks: [{ ...use, block: 0 }], calls: [call] } });
  }
  await refuses(journal, 'u', 1);
  expect(await journal.totals('t')).toMatchObject({ requests: 1, usage: { inputTokens: 1000 } });
  expect(await log(journal)).toMatchObject([{ say: 'api_req_finished', stop: 'interrupted', estimated: true }]);
  expect(ledger(home)).toEqual([{ attempt: 1, settled: 1 }]);
});

test('an attempt given up is settled with its own usage, and the next claim retracts nothing twice', async () => {
  const { journal } = await begun();
  await granted(journal, 't', 'u');
  await journal.retractTurn('u', 1, 'overloaded', usageOf('u', 1));
  await journal.retractTurn('u', 1, 'overloaded', usageOf('u', 1));
  await refuses(journal, 'u', 1, ['putBlock', 'commitTurn', 'closeTurn']);
  expect((await granted(journal, 't', 'u')).attempt).toBe(2);
  expect(await log(journal)).toEqual([{ type: 'retract', turn: 'u', attempt: 1, reason: 'overloaded' }]);
  await journal.closeTurn('u', 2, { stop: 'end_turn', usage: usageOf('u', 2) });
  expect(await journal.totals('t')).toMatchObject({ cost: 0.5, requests: 2 });
  expect(await journal.getTask('t')).toMatchObject({ turns: 1, cost: 0.5 });
});

test('a committed attempt cannot be given up', async () => {
  const { journal } = await begun();
  await granted(journal, 't', 'u');
  await journal.commitTurn('u', 1);
  const giving = journal.retractTurn('u', 1, 'cut', usageOf('u', 1));
  await expect(giving).rejects.toMatchObject({ slug: 'journal-conflict' });
  expect((await journal.getTurn('u'))?.state).toBe('committed');
});

test('of many claims at once each gets a number of its own, and only the newest may write', async () => {
  const { journal } = await begun();
  const claims = await Promise.all(Array.from({ length: 6 }, () => granted(journal, 't', 'u')));
  expect(claims.map((claim) => claim.attempt).sort()).toEqual([1, 2, 3, 4, 5, 6]);
  for (const attempt of [1, 2, 3, 4, 5]) await refuses(journal, 'u', attempt);
  await journal.commitTurn('u', 6);
  expect(await journal.totals('t')).toMatchObject({ requests: 5 });
});

test('of two executions of a call only the newest may act or leave a note', async () => {
  const { journal } = await begun();
  expect(await journal.claimCall('t', 'u:0')).toBe(1);
  await journal.putIntent('u:0', 1, '{"step":1}');
  expect(await journal.claimCall('t', 'u:0')).toBe(2);
  expect(await journal.getIntent('u:0')).toBe('{"step":1}');
  let acted = 0;
  const act = () => ++acted;
  await expect(journal.whileClaimed('u:0', 1, act)).rejects.toBeInstanceOf(Superseded);
  await expect(journal.putIntent('u:0', 1, '{}')).rejects.toBeInstanceOf(Superseded);
  expect(await journal.whileClaimed('u:0', 2, act)).toBe(1);
  await expect(
    journal.whileClaimed('u:0', 2, () => {
      throw new Error('full');
    }),
  ).rejects.toThrow('full');
  expect(await journal.whileClaimed('u:0', 2, act)).toBe(2);
  expect(await journal.getIntent('none')).toBeUndefined();
});

test('the first result of a call stands, with its events once', async () => {
  const { journal } = await begun();
  await journal.claimCall('t', 'u:0');
  const row = { call: 'u:0', status: 'done' as const, text: { text: 'out\0' }, excerpt: 'out', mistake: false };
  const said = { type: 'say' as const, say: 'tool_result' as const, call: 'u:0', tool: 'read_file' };
  const event = { ...said, status: 'done' as const, text: 'out', ms: 3 };
  expect(await journal.putResult(row, [{ event }])).toEqual(row);
  expect(await journal.putResult({ ...row, status: 'interrupted' }, [{ event }])).toEqual(row);
  expect(await journal.getResult('u:0')).toEqual(row);
  expect(await log(journal)).toEqual([event]);
  expect(await journal.getResult('none')).toBeUndefined();
  await expect(journal.putResult({ ...row, call: 'x:0' }, [{ event }])).rejects.toMatchObject({ slug: 'journal-lost' });
});

async function begun(): Promise<{ journal: Journal; home: string }> {
  const home = await tempHome();
  const journal = await testJournal({ home });
  await journal.createTask(taskOf('t'));
  return { journal, home };
}

async function log(journal: Journal) {
  return (await journal.readEvents('t', 0)).map((one) => one.event);
}

type Write = 'putBlock' | 'commitTurn' | 'closeTurn' | 'retractTurn';
const WRITES: Write[] = ['putBlock', 'commitTurn', 'closeTurn', 'retractTurn'];

/** Each write of the attempt is refused and changes nothing. */
async function refuses(journal: Journal, turn: string, attempt: number, writes = WRITES): Promise<void> {
  const before = [await journal.getTurn(turn), await log(journal), await journal.totals('t')];
  const act = {
    putBlock: () => journal.putBlock(turn, attempt, { index: 9, content: { type: 'text', text: 'zombie' } }),
    commitTurn: () => journal.commitTurn(turn, attempt),
    closeTurn: () => journal.closeTurn(turn, attempt, { stop: 'end_turn', usage: usageOf(turn, attempt) }),
    retractTurn: () => journal.retractTurn(turn, attempt, 'zombie', usageOf(turn, attempt)),
  };
  for (const name of writes) await expect(act[name]()).rejects.toBeInstanceOf(Superseded);
  expect([await journal.getTurn(turn), await log(journal), await journal.totals('t')]).toEqual(before);
}

function ledger(home: string): unknown[] {
  const db = new Libsql(homePaths(home).journal);
  const rows = db.prepare('SELECT attempt, settled FROM ledger ORDER BY attempt').all();
  db.close();
  return rows;
}

test('an execution that has long been replaced claims nothing, whatever state the turn is in', async () => {
  const { journal } = await begun();
  const claim = (dispatch: number) => journal.claimTurn({ task: 't', turn: 'u' }, 'head', RESERVE, { dispatch });
  expect(await claim(5)).toMatchObject({ claim: 'granted', attempt: 1 });
  await expect(claim(4)).rejects.toThrow(Superseded);
  expect(await claim(6)).toMatchObject({ claim: 'granted', attempt: 2 });
  await journal.commitTurn('u', 2);
  await expect(claim(5)).rejects.toThrow(Superseded);
  expect((await journal.getTurn('u'))?.state).toBe('committed');
  await journal.closeTurn('u', 2, { stop: 'end_turn', usage: usageOf('u', 2) });
  expect(await claim(1)).toMatchObject({ claim: 'closed' });

  expect(await journal.claimCall('t', 'u:0', 7)).toBe(1);
  await expect(journal.claimCall('t', 'u:0', 6)).rejects.toThrow(Superseded);
  expect(await journal.claimCall('t', 'u:0', 7)).toBe(2);
  expect(await journal.claimCall('t', 'u:0', 8)).toBe(3);
});

test('intents of calls without a result are left, and only those', async () => {
  const { journal } = await begun();
  for (const call of ['u:0', 'u:1', 'u:2']) await journal.claimCall('t', call);
  await journal.putIntent('u:0', 1, '"zero"');
  await journal.putIntent('u:1', 1, '"one"');
  await journal.putResult({ call: 'u:1', status: 'done', text: { text: 'x' }, excerpt: 'x', mistake: false }, []);
  expect(await journal.leftIntents('t')).toEqual(['"zero"']);
  expect(await journal.leftIntents('other')).toEqual([]);
});

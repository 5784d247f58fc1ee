import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compiled, granted, RESERVE, taskOf, tempHome, testJournal, usageOf } from '../../test/support/journal.js';
import type { BudgetCaps } from '../domain/budget.js';
import { NO_USAGE } from '../domain/usage.js';
import type { Journal } from './journal.js';
import { MIN_OUTPUT_TOKENS } from './ledger.js';
import type { TurnClaim } from './rows.js';

/** A journal with one root task and its children. */
async function tree(children: string[] = []): Promise<Journal> {
  const journal = await testJournal();
  await journal.createTask(taskOf('root'));
  for (const task of children) await journal.createTask({ ...taskOf('root'), task, root: 'root' });
  return journal;
}

const claimOf = (journal: Journal, task: string, turn: string, caps: BudgetCaps, dispatch = 0) =>
  journal.claimTurn({ task, turn }, null, RESERVE, { caps, dispatch, events: () => [{ event: SAID }] });
const SAID = { type: 'say', say: 'info', text: 'asked' } as const;
const maxTokensOf = (claim: TurnClaim) => (claim.claim === 'granted' ? claim.maxTokens : claim.claim);

test('a claim asks for what the rest pays, and is refused when that is too little: nothing is left of it', async () => {
  const journal = await tree();
  const caps = { cost: 0.01 + 1.5 };
  expect(maxTokensOf(await claimOf(journal, 'root', 'a', caps))).toBe(1_500);
  expect(await claimOf(journal, 'root', 'b', { cost: 1.51 })).toEqual({
    claim: 'spent',
    spent: { limit: 'cost', used: 1.51, cap: 1.51 },
  });
  await journal.closeTurn('a', 1, { stop: 'end_turn', usage: usageOf('a', 1) });
  const message = { role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] };
  const opening = { parent: null, messages: [message] };
  const refused = {
    caps: { cost: 0.25 + 0.01 + (MIN_OUTPUT_TOKENS - 1) * 0.001 },
    opening,
    events: () => [{ event: SAID }],
  };
  const before = await journal.readEvents('root', 0);
  const claim = await journal.claimTurn({ task: 'root', turn: 'c' }, null, RESERVE, refused);
  expect(claim).toMatchObject({ claim: 'spent', spent: { limit: 'cost', used: 0.25 } });
  expect(await journal.readEvents('root', 0)).toEqual(before);
  expect(await journal.getTurn('c')).toBeUndefined();
  expect(await journal.treeUse('root')).toEqual({ turns: 1, tokens: 114, cost: 0.25 });
  const enough = await claimOf(journal, 'root', 'c', { cost: 0.25 + 0.01 + MIN_OUTPUT_TOKENS * 0.001 + 1e-9 });
  expect(maxTokensOf(enough)).toBe(MIN_OUTPUT_TOKENS);
});

test('tokens and turns have caps of their own; a model of few output tokens is not held to the floor', async () => {
  const journal = await tree();
  expect(maxTokensOf(await claimOf(journal, 'root', 'a', { tokens: 3_000 }))).toBe(2_000);
  await journal.closeTurn('a', 1, { stop: 'end_turn', usage: usageOf('a', 1) });
  expect(await claimOf(journal, 'root', 'b', { tokens: 2_137 })).toMatchObject({
    spent: { limit: 'tokens', used: 114 },
  });
  expect(maxTokensOf(await claimOf(journal, 'root', 'b', { tokens: 2_138 }))).toBe(1_024);
  await journal.retractTurn('b', 1, 'cut', usageOf('b', 1));
  // an attempt that has failed is no turn
  expect(maxTokensOf(await claimOf(journal, 'root', 'b', { turns: 2 }))).toBe(4_000);
  expect(await claimOf(journal, 'root', 'c', { turns: 2 })).toMatchObject({
    spent: { limit: 'turns', used: 2, cap: 2 },
  });
  const short = { ...RESERVE, maxTokens: 100 };
  const claim = await journal.claimTurn({ task: 'root', turn: 'd' }, null, short, { caps: { cost: 100 } });
  expect(maxTokensOf(claim)).toBe(100);
});

test('two tasks of one tree share what there is, and each has its own totals', async () => {
  const journal = await tree(['child', 'other']);
  const caps = { tokens: 10_000 };
  const claims = await Promise.all(['root', 'child', 'other'].map((task) => claimOf(journal, task, `${task}-1`, caps)));
  expect(claims.map(maxTokensOf).sort()).toEqual([4_000, 4_000, 'spent']);
  const [first, second] = ['root', 'child', 'other'].filter((_, at) => claims[at]?.claim === 'granted');
  await journal.closeTurn(`${first}-1`, 1, { stop: 'end_turn', usage: usageOf(`${first}-1`, 1) });
  await journal.retractTurn(`${second}-1`, 1, 'cut', usageOf(`${second}-1`, 1));
  for (const task of ['root', 'child', 'other']) {
    expect(await journal.treeUse(task)).toEqual({ turns: 1, tokens: 228, cost: 0.5 });
  }
  expect(await journal.getTask(first!)).toMatchObject({ turns: 1, cost: 0.25 });
  expect(await journal.getTask(second!)).toMatchObject({ turns: 0, cost: 0.25 });
  const wrong = journal.claimTurn({ task: 'child', turn: 'x', root: 'child' }, null, RESERVE);
  await expect(wrong).rejects.toMatchObject({ slug: 'journal-conflict' });
  await expect(journal.treeUse('nobody')).rejects.toMatchObject({ slug: 'journal-lost' });
});

test('a folder belongs to a tree: its tasks share it, others do not get it', async () => {
  const journal = await tree(['child']);
  await expect(journal.createTask({ ...taskOf('root'), task: 'stranger' })).rejects.toThrow(/open in/);
});

test('what a crash has left counts until it is settled, once, at what it has probably used', async () => {
  const journal = await tree();
  await granted(journal, 'root', 'a');
  expect(await claimOf(journal, 'root', 'b', { cost: 4.01 })).toMatchObject({ claim: 'spent', spent: { used: 4.01 } });
  // streamed is more than was asked for, as characters make too many tokens of it
  await journal.putBlock('a', 1, { index: 0, content: { type: 'text', text: 'x'.repeat(40_000) } });
  expect((await granted(journal, 'root', 'a')).attempt).toBe(2);
  expect(await journal.treeUse('root')).toMatchObject({ turns: 0, tokens: 5_000 });
  expect((await journal.treeUse('root')).cost).toBeCloseTo(4.01);
  await journal.settleLeft('root');
  await journal.settleLeft('root');
  expect(await journal.totals('root')).toMatchObject({ requests: 2 });
  expect(await journal.treeUse('root')).toMatchObject({ turns: 1, tokens: 6_000 });
});

test('a turn that was left for another one is settled by its claim, but not by one that came earlier', async () => {
  const journal = await tree();
  const caps = {};
  await claimOf(journal, 'root', 'a', caps, 5);
  await claimOf(journal, 'root', 'b', caps, 4);
  expect(await journal.totals('root')).toMatchObject({ requests: 0 });
  await claimOf(journal, 'root', 'c', caps, 6);
  expect(await journal.totals('root')).toMatchObject({ requests: 2 });
  expect(await journal.getTurn('a')).toMatchObject({ state: 'open' });
});

test('a run that replaces another one settles what that has left; a reset takes its turns back', async () => {
  const journal = await tree(['child']);
  expect(await journal.enterRun('root', 'r1', null)).toBe(true);
  for (const turn of ['a', 'b', 'c']) {
    await granted(journal, 'root', turn);
    await journal.closeTurn(turn, 1, { stop: 'tool_use', usage: usageOf(turn, 1) });
  }
  await granted(journal, 'child', 'x');
  await journal.closeTurn('x', 1, { stop: 'tool_use', usage: usageOf('x', 1) });
  await granted(journal, 'root', 'd');
  expect(await journal.enterRun('root', 'r2', 'r1')).toBe(true);
  expect(await journal.treeUse('root')).toMatchObject({ turns: 4, tokens: 4 * 114 + 1_000 });
  expect(await journal.enterRun('root', 'r3', 'r2', { turns: 1, events: [] })).toBe(true);
  expect(await journal.getTask('root')).toMatchObject({ turns: 1 });
  // the money is gone all the same
  expect(await journal.treeUse('child')).toMatchObject({ turns: 2, tokens: 4 * 114 + 1_000 });
  const outcome = { outcome: 'cancelled' } as const;
  const totals = { turns: 3, usage: NO_USAGE, cost: 1.01 };
  await journal.append('root', [{ event: { type: 'closed', outcome, totals } }]);
  expect(await journal.treeUse('root')).toMatchObject({ turns: 4 });
});

type Step = { agent: number; act: 'claim' | 'close' | 'retract' | 'crash'; input: number; part: number; error: number };
const step: fc.Arbitrary<Step> = fc.record({
  agent: fc.nat(2),
  act: fc.constantFrom('claim', 'claim', 'close', 'close', 'retract', 'crash'),
  input: fc.integer({ min: 1, max: 3_000 }),
  part: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
  error: fc.integer({ min: -100, max: 100 }),
});
const PRICE = { input: 0.000_01, output: 0.000_05 };

test('whatever agents do, at once and after crashes, a tree never uses more than its caps and the errors of its estimates', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 25 }),
      fc.oneof(
        fc.record({ cost: fc.double({ min: 0.05, max: 1, noNaN: true }) }),
        fc.record({ tokens: fc.integer({ min: 1_100, max: 20_000 }) }),
        fc.record({ turns: fc.integer({ min: 1, max: 6 }) }),
      ),
      async (rounds, caps: BudgetCaps) => {
        const journal = await tree(['a1', 'a2']);
        const agents = ['root', 'a1', 'a2'].map((task) => new Agent(journal, task, caps));
        for (const round of rounds) await Promise.all(round.map((one) => agents[one.agent]?.take(one)));
        const over = agents.reduce((sum, agent) => sum + agent.over, 0);
        const used = await journal.treeUse('root');
        const { turns = Infinity, tokens = Infinity, cost = Infinity } = caps;
        expect(used.turns).toBeLessThanOrEqual(turns);
        expect(used.tokens).toBeLessThanOrEqual(tokens + over);
        expect(used.cost).toBeLessThanOrEqual(cost + over * PRICE.input + 1e-9);
        const sums = await Promise.all(agents.map(({ task }) => journal.totals(task)));
        expect(used.cost).toBeCloseTo(
          sums.reduce((sum, { cost }) => sum + cost, 0),
          9,
        );
        const counts = await Promise.all(agents.map(async ({ task }) => (await journal.getTask(task))?.turns ?? 0));
        expect(used.turns).toBe(counts.reduce((sum, n) => sum + n, 0));
        await journal.close();
      },
    ),
    { numRuns: 60 },
  );
});

/** One agent: a request at a time, answered with any part of what it may ask for, or left. */
class Agent {
  /** Input tokens beyond their estimates. */
  over = 0;
  private turn = 0;
  private held: { attempt: number; input: number; maxTokens: number } | undefined;
  private busy: Promise<void> = Promise.resolve();

  constructor(
    private readonly journal: Journal,
    readonly task: string,
    private readonly caps: BudgetCaps,
  ) {}

  /** Steps of one agent follow each other; those of several do not. */
  take(one: Step): Promise<void> {
    this.busy = this.busy.then(() => this.act(one));
    return this.busy;
  }

  private async act({ act, input, part, error }: Step): Promise<void> {
    const turn = `${this.task}:${this.turn}`;
    if (act === 'claim') {
      const request = { model: 'm', inputTokens: input, inputCost: input * PRICE.input, outputPrice: PRICE.output };
      const wanted = { ...request, maxTokens: 4_000 };
      const claim = await this.journal.claimTurn({ task: this.task, turn }, null, wanted, { caps: this.caps });
      this.held = claim.claim === 'granted' ? { ...claim, input } : undefined;
      if (claim.claim === 'closed') this.turn++;
      return;
    }
    const { held } = this;
    if (!held) return;
    this.held = undefined;
    const output = Math.floor(held.maxTokens * part);
    if (act === 'crash') {
      const content = { type: 'text', text: 'x'.repeat(output * 5) } as const;
      await this.journal.putBlock(turn, held.attempt, { index: 0, content });
      if (part > 0.7) await this.journal.commitTurn(turn, held.attempt);
      if (part < 0.3) this.turn++;
      return;
    }
    const inputTokens = Math.max(0, held.input + error);
    this.over += Math.max(0, inputTokens - held.input);
    const usage = { ...NO_USAGE, inputTokens, outputTokens: output };
    const cost = inputTokens * PRICE.input + output * PRICE.output;
    const row = { turn, attempt: held.attempt, model: 'm', usage, cost, estimated: false };
    if (act === 'retract') return this.journal.retractTurn(turn, held.attempt, 'cut', row);
    await this.journal.closeTurn(turn, held.attempt, { stop: 'end_turn', usage: row });
    this.turn++;
  }
}

test('processes that spend from one tree, one of them killed, never spend more than there is', async () => {
  const home = await tempHome();
  const journal = await testJournal({ home });
  await journal.createTask(taskOf('root'));
  for (const task of ['p1', 'p2', 'p3']) await journal.createTask({ ...taskOf('root'), task, root: 'root' });
  const program = await compiled('journal-writer');
  const spend = (task: string) =>
    spawn(process.execPath, [program, home, 'spend', task, '2'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const killed = spend('p1');
  await once(killed.stdout, 'data');
  const others = [spend('p2'), spend('p3')];
  await sleep(150);
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  const codes = await Promise.all(others.map(async (child) => child.exitCode ?? (await once(child, 'exit'))[0]));
  expect(codes).toEqual([0, 0]);
  expect((await journal.treeUse('root')).cost).toBeLessThanOrEqual(2);
  // what the killed one had set aside is still there for it, or was given back
  expect(await once(spend('p1'), 'exit')).toEqual([0, null]);
  const used = await journal.treeUse('root');
  expect(used.cost).toBeLessThanOrEqual(2);
  expect(used.cost).toBeGreaterThan(2 - 0.01 - MIN_OUTPUT_TOKENS * 0.000_02);
});

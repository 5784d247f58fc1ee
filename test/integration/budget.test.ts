import Libsql from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StartRequest } from '../../src/client.js';
import type { TaskLimits } from '../../src/domain/budget.js';
import type { TaskEvent } from '../../src/domain/events.js';
import { DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { tokensOf } from '../../src/domain/usage.js';
import { call, type FakeModel, finish, type Responder, say, stall, status, usage } from '../../src/fake-model/index.js';
import { homePaths } from '../../src/settings/paths.js';
import { answers, done, play } from '../support/playing.js';
import { isAsk, isClosed, modelEnv, startWorld, until, type World, YOLO } from '../support/world.js';

const POLICY = { yolo: false, approve: [...DEFAULT_APPROVALS] };

/** Lists files for ever, an answer as long as is wanted or as it may be. */
const forEver =
  (outputTokens = 1_000): Responder =>
  ({ body, turn }) => [
    usage({ output_tokens: Math.min(outputTokens, body.max_tokens ?? 0) }),
    call('list_files', { path: '.', recursive: turn % 2 === 0 }),
    call('search_files', { path: '.', regex: `turn${turn}` }),
    finish(),
  ];
/** So many turns of that, then it completes. */
const forTurns =
  (turns: number, outputTokens?: number): Responder =>
  (request) =>
    request.turn < turns ? forEver(outputTokens)(request) : done;

const isSoftAsk = (event: TaskEvent): event is Extract<TaskEvent, { type: 'ask' }> =>
  isAsk(event) && event.ask.kind === 'budget_limit_reached';

describe('budgets', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const start = (responder: Responder, limits: TaskLimits, request: Partial<StartRequest> = {}) =>
    play(world, responder, { limits, ...request });

  /** `run --json` with these flags, to its end. */
  const run = async (responder: Responder, flags: string[]) => {
    const model = await world.model({ responder });
    const args = ['run', 'Do it.', '--yolo', '--json', '-w', world.workspace(), ...flags];
    const { code, lines } = await world.cli(args, { env: modelEnv({}, model) });
    const outcome = lines.at(-1) as { task: string; outcome: string; limit: string; message: string };
    return { code, outcome, model, task: outcome.task };
  };

  const maxTokens = (model: FakeModel) => model.requests.map(({ body }) => (body as { max_tokens: number }).max_tokens);

  const limitsOf = (task: string, change: Record<string, number | null>) =>
    world.temporal.workflow.getHandle(task).executeUpdate('limits', { args: [change] });

  const ended = async (task: string, times = 1) =>
    until(async () => {
      const closed = (await world.events(task)).map(({ event }) => event).filter(isClosed);
      return closed[times - 1]?.outcome;
    });

  /** What the task's attempts have used, as they are stored, against its tree's sums. */
  const checkedUse = async (task: string) => {
    const { usage: sum, cost } = await world.journal.totals(task);
    const used = await world.journal.treeUse(task);
    expect(used.tokens).toBe(tokensOf(sum));
    expect(used.cost).toBeCloseTo(cost, 9);
    return used;
  };

  it('of cost ends the task before it costs more: output is cut to what the rest pays, then nothing is asked any more', async () => {
    const { code, outcome, model, task } = await run(forEver(), ['--max-cost', '$0.08']);
    expect(outcome).toMatchObject({ outcome: 'budget', limit: 'cost' });
    expect(code).toBe(4);
    const used = await checkedUse(task);
    expect(used.cost).toBeLessThanOrEqual(0.08);
    expect(used.turns).toBe(model.requests.length);
    expect(model.requests.length).toBeGreaterThan(1);
    const asked = maxTokens(model);
    expect(asked).toEqual([...asked].sort((a, b) => b - a));
    expect(asked[0]).toBeLessThan(32_000);
    expect(asked.at(-1)).toBeGreaterThanOrEqual(1_024);
    expect(model.refused()).toEqual([]);
    const shown = await world.cli(['show', task]);
    expect(shown.out).toMatch(/outcome: +ended by its budget \(cost\): The task has used \$0\.0\d+ of \$0\.08/);
  });

  it('of tokens, of turns and of time end it the same way', async () => {
    const tokens = await run(forEver(2_000), ['--max-tokens', '30000']);
    expect(tokens).toMatchObject({ code: 4, outcome: { outcome: 'budget', limit: 'tokens' } });
    expect((await checkedUse(tokens.task)).tokens).toBeLessThanOrEqual(30_000);
    const turns = await run(forEver(), ['--max-turns', '2']);
    expect(turns).toMatchObject({ code: 4, outcome: { outcome: 'budget', limit: 'turns' } });
    expect(turns.model.requests).toHaveLength(2);
    const time = await run(
      answers([call('execute_command', { command: 'sleep 60', requires_approval: false }), finish()]),
      ['--max-time', '3s'],
    );
    expect(time).toMatchObject({ code: 4, outcome: { outcome: 'budget', limit: 'time' } });
  });

  it('a budget that pays for no request at all asks for nothing', async () => {
    const { code, outcome, model, task } = await run(forEver(), ['--max-cost', '0.001']);
    expect(outcome).toMatchObject({ outcome: 'budget', limit: 'cost', turns: 0, cost: 0 });
    expect(code).toBe(4);
    expect(model.requests).toEqual([]);
    expect(await world.journal.treeUse(task)).toEqual({ turns: 0, tokens: 0, cost: 0 });
  });

  it('counts each attempt once, each token at its own price, and a request that was refused as nothing', async () => {
    const counts = {
      input_tokens: 9,
      cache_creation_input_tokens: 300,
      cache_read_input_tokens: 17_000,
      output_tokens: 50,
    };
    const { task, client, model } = await start(
      answers([usage(counts), status(400, {}, 1), say('Well.'), finish()], [usage(counts), ...done]),
      { maxCost: 1 },
    );
    const { ask } = await world.event(task, isAsk);
    expect(ask.kind).toBe('api_req_failed');
    expect(await checkedUse(task)).toEqual({ turns: 0, tokens: 0, cost: 0 });
    await client.answer(task, { ask: ask.id, answer: 'yes' });
    expect(await ended(task)).toMatchObject({ outcome: 'completed' });
    const used = await checkedUse(task);
    expect(used).toMatchObject({ turns: 2, tokens: 2 * 17_359 });
    expect(used.cost).toBeCloseTo((2 * (9 * 2 + 50 * 10 + 300 * 2.5 + 17_000 * 0.2)) / 1e6, 12);
    expect(model.requests).toHaveLength(3);
  });

  it('an answer that the budget has cut is no mistake of the model, and is not tried again and again', async () => {
    const cut: Responder = ({ body, turn }) =>
      turn < 2
        ? [say('I think.'), finish()]
        : [
            usage({ output_tokens: body.max_tokens ?? 0 }),
            call('write_to_file', { path: 'a', content: 'aaaa' }, { half: true }),
            finish('max_tokens'),
          ];
    const { task, model } = await start(cut, { maxCost: 0.1 });
    expect(await ended(task)).toMatchObject({ outcome: 'budget', limit: 'cost' });
    expect(model.requests).toHaveLength(3);
    expect((await checkedUse(task)).cost).toBeLessThanOrEqual(0.1);
  });

  it('the soft limit asks once; with "yes" the task goes on to its limit', async () => {
    const { task, client, model } = await start(forTurns(5), { maxTurns: 6, softPercent: 50 }, { policy: POLICY });
    const { ask } = await world.event(task, isSoftAsk);
    expect(ask.question).toContain('50 %');
    expect(model.requests).toHaveLength(3);
    await client.answer(task, { ask: ask.id, answer: 'yes' });
    expect(await ended(task)).toMatchObject({ outcome: 'completed' });
    const events = (await world.events(task)).map(({ event }) => event);
    expect(events.filter(isSoftAsk)).toHaveLength(1);
  });

  it('with "no" it ends there; a text goes into the next request', async () => {
    const limits = { maxTurns: 4, softPercent: 40 };
    const refused = await start(forTurns(3), limits, { policy: POLICY });
    const no = await world.event(refused.task, isSoftAsk);
    await refused.client.answer(refused.task, { ask: no.ask.id, answer: 'no' });
    expect(await ended(refused.task)).toMatchObject({ outcome: 'budget', limit: 'turns' });
    expect(refused.model.requests).toHaveLength(2);

    const told = await start(forTurns(3), limits, { policy: POLICY });
    const text = await world.event(told.task, isSoftAsk);
    await told.client.answer(told.task, { ask: text.ask.id, answer: 'message', text: 'hurry up: token-31' });
    expect(await ended(told.task)).toMatchObject({ outcome: 'completed' });
    expect(JSON.stringify(told.model.requests[2]?.body)).toContain('token-31');
    expect(told.model.refused()).toEqual([]);
  });

  it('under --yolo the soft limit is only said', async () => {
    const { task } = await start(forTurns(3), { maxTurns: 6, softPercent: 30 });
    expect(await ended(task)).toMatchObject({ outcome: 'completed' });
    const events = (await world.events(task)).map(({ event }) => event);
    expect(events.filter(isAsk)).toEqual([]);
    const info = events.filter((event) => event.type === 'say' && event.say === 'info');
    expect(info).toMatchObject([{ text: expect.stringMatching(/has used 33 % of its limit \(turns\)/) }]);
  });

  it('can be raised while the task runs, and lowered below what it has used', async () => {
    const question: Responder = ({ turn, ...more }) =>
      turn === 1 || turn === 3
        ? [call('ask_followup_question', { question: 'Go on?' }), finish()]
        : forEver()({ turn, ...more });
    const { task, client } = await start(question, { maxTurns: 2 }, { policy: POLICY });
    const first = await world.event(task, isAsk);
    expect(await limitsOf(task, { maxTurns: 10, maxCost: 5 })).toEqual({ limits: { maxTurns: 10, maxCost: 5 } });
    await expect(limitsOf(task, { maxTurns: -1 })).rejects.toThrow();
    await client.answer(task, { ask: first.ask.id, answer: 'message', text: 'yes' });
    const second = await until(async () => {
      const asks = (await world.events(task)).map(({ event }) => event).filter(isAsk);
      return asks[1];
    });
    await limitsOf(task, { maxCost: 0.000_001 });
    await client.answer(task, { ask: second.ask.id, answer: 'message', text: 'yes' });
    expect(await ended(task)).toMatchObject({ outcome: 'budget', limit: 'cost' });
    expect(await world.journal.treeUse(task)).toMatchObject({ turns: 4 });
  });

  it('count anew for a follow-up, as people have left them', async () => {
    const { task, client, model } = await start(forEver(), { maxTurns: 2 });
    expect(await ended(task)).toMatchObject({ outcome: 'budget', limit: 'turns' });
    expect(await client.send(task, 'Go on, please: token-77')).toEqual({ state: 'follow_up' });
    expect(await ended(task, 2)).toMatchObject({ outcome: 'budget', limit: 'turns' });
    expect(model.requests).toHaveLength(4);
    expect(JSON.stringify(model.requests[2]?.body).split('token-77')).toHaveLength(2);
    const shown = await world.temporal.workflow.getHandle(task).query<{ limits: TaskLimits }>('status');
    expect(shown.limits).toEqual({ maxTurns: 4 });
    expect(model.refused()).toEqual([]);
  });

  it('an attempt whose worker was killed in the middle of its stream is counted, as an estimate, once', async () => {
    const other = await startWorld();
    try {
      const doomed = await other.worker();
      const model = await other.model({
        responder: answers([say('half of a long answer '.repeat(40), { half: true }), stall(1), say('whole'), ...done]),
      });
      const { task } = await other.start(model, { limits: { maxCost: 1, maxTokens: 1_000_000 }, policy: YOLO });
      await until(async () => (await other.journal.readPartials(task, 0)).length > 0);
      expect(await other.journal.treeUse(task)).toEqual({ turns: 0, tokens: 0, cost: 0 });
      await doomed.kill9();
      await other.worker();
      await other.event(task, isClosed, 60_000);
      const db = new Libsql(homePaths(other.home).journal, { readonly: true });
      const rows = db
        .prepare('SELECT attempt, estimated, cost, output_tokens AS output FROM usage ORDER BY attempt')
        .all();
      const open = db.prepare('SELECT * FROM ledger WHERE settled = 0').all();
      db.close();
      expect(rows).toMatchObject([
        { attempt: 1, estimated: 1 },
        { attempt: 2, estimated: 0 },
      ]);
      expect((rows as { output: number }[])[0]?.output).toBeGreaterThan(0);
      expect(open).toEqual([]);
      const used = await other.journal.treeUse(task);
      expect(used.turns).toBe(1);
      expect(used.cost).toBeCloseTo((await other.journal.totals(task)).cost, 9);
      expect(model.refused()).toEqual([]);
    } finally {
      await other.stop();
    }
  });
});

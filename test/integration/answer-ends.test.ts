import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AskEvent, TaskEvent } from '../../src/domain/events.js';
import type { TaskSettings } from '../../src/domain/settings.js';
import {
  call,
  callraw,
  close,
  cut,
  empty,
  error,
  type FakeModel,
  finish,
  html,
  overloaded,
  ping,
  raw,
  type Step,
  say,
  stall,
  status,
  think,
} from '../../src/fake-model/index.js';
import { done } from '../support/playing.js';
import { resultsOf } from '../support/requests.js';
import { type SkippedTask, type SkippingWorld, startSkippingWorld } from '../support/time-skipping.js';
import { isAsk, until } from '../support/world.js';

const DAY_MS = 24 * 3_600_000;
/** Limits of a stream, short: a stream of pings is longer than the first, and not than the second. */
const IDLE_MS = 400;
const TOTAL_MS = 2_500;

const counted = (options = {}) =>
  call('execute_command', { command: 'echo ran >> counter', requires_approval: false }, options);
const counting = counted();
const half: Step = say('one two three four five six', { half: true });

/** An answer that ends for a reason the fake model does not know. */
const endsWith = (reason: string): Step[] => [
  raw({ type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 3 } }),
  raw({ type: 'message_stop' }),
  close(),
];

interface Played extends SkippedTask {
  model: FakeModel;
}

/** Every way an answer can end, for the whole product, on a server that makes waits short. */
describe('an answer', () => {
  let world: SkippingWorld;
  beforeAll(async () => {
    world = await startSkippingWorld({
      LONGHAUL_IDLE_LIMIT_MS: String(IDLE_MS),
      LONGHAUL_STREAM_LIMIT_MS: String(TOTAL_MS),
      PATH: process.env.PATH,
    });
  });
  afterAll(() => world?.stop());

  /** The first answer is tried with each of `tries` in turn, then `then` is played, an answer a turn; the rest complete. */
  const play = async (tries: Step[][], then: Step[][] = [], settings: Partial<TaskSettings> = {}): Promise<Played> => {
    let first = 0;
    const model = await world.model(({ turn }) => {
      if (turn === 0 && first < tries.length) return tries[first++];
      return then[turn - 1] ?? done;
    });
    return { ...(await world.start(model.url, settings)), model };
  };
  const completed = async ({ task, model, handle }: Played): Promise<TaskEvent[]> => {
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect(model.refused()).toEqual([]);
    // every attempt is paid for once
    expect((await world.journal.totals(task)).requests).toBe(model.requests.length);
    return world.events(task);
  };
  /** Waits for an ask that only a person can answer; `skip` is how much time is passed with each look. */
  const asked = ({ task }: { task: string }, skip = 0): Promise<AskEvent> =>
    until(async () => {
      if (skip > 0) await world.env.sleep(skip);
      const events = await world.events(task);
      const open = events.filter(isAsk).at(-1);
      if (open === undefined || open.ask.deadline !== undefined) return undefined;
      return events.some((one) => one.type === 'ask_closed' && one.ask === open.ask.id) ? undefined : open;
    });
  const delays = (events: TaskEvent[]) =>
    events.flatMap((one) => (one.type === 'say' && one.say === 'error_retry' ? [one.delayMs] : []));
  const retries = (events: TaskEvent[]) =>
    events.flatMap((one) => (one.type === 'say' && one.say === 'error_retry' ? [one.class] : []));
  const bodies = ({ model }: Played) => model.requests.map(({ body }) => JSON.stringify(body));

  describe('that fails before anything of it counts is made again after 2, 4 and 8 s:', () => {
    const table: [string, Step[], string][] = [
      ['status 408', [status(408)], 'server_error'],
      ['status 409', [status(409)], 'server_error'],
      ['status 429', [status(429)], 'rate_limit'],
      ['status 500', [status(500)], 'server_error'],
      ['status 503', [status(503)], 'server_error'],
      ['status 529', [status(529)], 'overloaded'],
      ["a proxy's page with 502", [html(502)], 'server_error'],
      ["a proxy's page with 200", [html(200)], 'bad_response'],
      ['a reset before the headers', [cut()], 'connection'],
      ['an end without any event', [close()], 'cut'],
      ['silence from the beginning', [stall()], 'stalled'],
      ['an end before the first content', [ping(), close()], 'cut'],
      ['overloaded as an event, before content', [overloaded()], 'overloaded'],
      ['rate limited as an event, before content', [error('rate_limit_error')], 'rate_limit'],
      ['an API error as an event, before content', [error('api_error')], 'server_error'],
      ['overloaded as an event, after content', [half, overloaded()], 'overloaded'],
      ['an end in a text', [half, close()], 'cut'],
      ['a reset in a text', [half, cut()], 'connection'],
      ['silence in a text', [half, stall()], 'stalled'],
      ['a reset in a call', [say('I write.'), counted({ half: true }), cut()], 'connection'],
      ['an end in reasoning', [think('Let me think about it.', { half: true }), close()], 'cut'],
      ['a second beginning', [half, raw({ type: 'message_start', message: { id: 'msg_2' } }), stall()], 'bad_response'],
    ];
    it.each(table)('%s', async (_, fault, kind) => {
      const task = await play([fault, fault, fault, [counting, finish()]]);
      const events = await completed(task);
      expect(delays(events)).toEqual([2_000, 4_000, 8_000]);
      expect(retries(events)).toEqual([kind, kind, kind]);
      expect(task.model.requests).toHaveLength(5);
      // all tries are the same request, and what had arrived before is no part of the next
      expect(new Set(bodies(task).slice(0, 4)).size).toBe(1);
      expect(bodies(task)[4]).not.toContain('one two');
      expect(readFileSync(join(task.workspace, 'counter'), 'utf8')).toBe('ran\n');
      expect(events.filter(({ type }) => type === 'retract')).toHaveLength(3);
    });
  });

  describe('that breaks off after a call of it has started is kept as far as it came, and not asked for again:', () => {
    const table: [string, Step[]][] = [
      ['a reset', [cut()]],
      ['an end', [close()]],
      ['silence', [stall()]],
      ['overloaded', [overloaded()]],
      ['an invalid request', [error('invalid_request_error')]],
      [
        'a reset in a second call',
        [call('execute_command', { command: 'echo two >> counter' }, { half: true }), cut()],
      ],
      ['no event of the protocol', [raw({ type: 'message_start', message: {} }), stall()]],
    ];
    it.each(table)('%s', async (_, fault) => {
      const task = await play([[counting, say('and then', { half: true }), ...fault]]);
      const events = await completed(task);
      expect(delays(events)).toEqual([]);
      expect(task.model.requests).toHaveLength(2);
      expect(bodies(task)[1]).toContain('[Response interrupted by API Error]');
      expect(resultsOf(task.model.requests[1]?.body)).toHaveLength(1);
      expect(readFileSync(join(task.workspace, 'counter'), 'utf8')).toBe('ran\n');
    });
  });

  describe('that no retry mends is asked about at once, and made again when a person says so:', () => {
    const table: [string, Step[], RegExp][] = [
      ['status 400', [status(400)], /\(bad_request\).*put the task differently/],
      ['status 400 about size', [status(400, {}, undefined, 'prompt is too long: 9 tokens > 8')], /\(context_window\)/],
      [
        'status 400 about credit',
        [status(400, {}, undefined, 'Your credit balance is too low')],
        /\(billing\).*Add credit/,
      ],
      ['status 401', [status(401)], /\(auth\).*key/],
      ['status 402', [status(402)], /\(billing\)/],
      ['status 403', [status(403)], /\(auth\)/],
      ['status 404', [status(404)], /\(not_found\).*model id/],
      ['status 413', [status(413)], /\(too_large\)/],
      ['status 422', [status(422)], /\(bad_request\)/],
      ['a redirect', [status(307, { location: 'https://elsewhere.invalid/' })], /\(address\).*redirect/],
      ['an invalid request as an event, before content', [error('invalid_request_error')], /\(bad_request\)/],
      ['an invalid request as an event, after content', [half, error('invalid_request_error')], /\(bad_request\)/],
      ['no permission as an event', [error('permission_error')], /\(auth\)/],
    ];
    it.each(table)('%s', async (_, fault, question) => {
      const task = await play([fault]);
      const { ask } = await asked(task);
      expect(ask.kind).toBe('api_req_failed');
      expect(ask.question).toMatch(question);
      expect(ask.question).toContain('req_fake_1');
      expect(ask.deadline).toBeUndefined();
      expect(task.model.requests).toHaveLength(1);
      await task.handle.executeUpdate('answer', { args: ['yes'] });
      expect(delays(await completed(task))).toEqual([]);
      expect(task.model.requests).toHaveLength(2);
    });

    it('with words of a person, which are said once however often the request fails', async () => {
      const task = await play([[status(401)], [status(401)]]);
      for (const text of ['token-one', 'token-two']) {
        const { ask } = await asked(task);
        await task.handle.executeUpdate('answer', { args: [{ ask: ask.id, answer: 'message', text }] });
        await until(async () =>
          (await world.events(task.task)).some((one) => one.type === 'ask_closed' && one.ask === ask.id),
        );
      }
      await completed(task);
      const said = (await world.events(task.task)).flatMap((one) =>
        one.type === 'say' && one.say === 'user_feedback' ? [one.text] : [],
      );
      expect(said).toEqual(['token-one', 'token-two']);
      expect(bodies(task).at(-1)).toContain('token-one');
    });

    it('an address without TLS behind https', async () => {
      const task = await play([]);
      const secure = await world.start(task.model.url.replace('http:', 'https:'));
      const { ask } = await asked(secure);
      expect(ask.question).toMatch(/\(tls\).*NODE_EXTRA_CA_CERTS|\(tls\)/);
      await secure.handle.executeUpdate('answer', { args: ['no'] });
      await expect(secure.handle.result()).rejects.toMatchObject({ cause: { type: 'provider' } });
    });

    it('a key that is not on this host', async () => {
      const task = await play([], [], { profile: 'p-000000000000' });
      expect((await asked(task)).ask.question).toMatch(/\(auth\).*not on this host/);
      expect(task.model.requests).toHaveLength(0);
      await task.handle.cancel();
    });
  });

  describe('that has to be waited for parks the task until then:', () => {
    const month = new Date(Date.now() + 20 * DAY_MS).toISOString();
    const regain = `You have reached your specified API usage limits. You will regain access on ${month.slice(0, 10)} at ${month.slice(11, 16)} UTC.`;
    it.each([
      ['an hour, in seconds', [status(429, { 'retry-after': '3600' })], 3_600_000],
      ['nine days', [status(429, { 'retry-after': String(9 * 24 * 3600) })], 9 * DAY_MS],
      ['20 days, in words', [status(400, {}, undefined, regain)], 20 * DAY_MS],
      ['two hours, of an overloaded provider', [status(529, { 'retry-after': '7200' })], 7_200_000],
    ] as [string, Step[], number][])('%s', async (_, fault, ms) => {
      const task = await play([fault]);
      const events = await completed(task);
      const [parked] = events.flatMap((one) => (one.type === 'status' && one.status === 'parked' ? [one] : []));
      const [ask] = events.filter(isAsk);
      expect(ask?.ask).toMatchObject({ kind: 'api_req_failed', default: 'yes', deadline: parked?.until });
      expect(Math.abs((parked?.until ?? 0) - (ask?.ask.opened ?? 0) - ms)).toBeLessThan(90_000);
      expect(await world.env.currentTimeMs()).toBeGreaterThanOrEqual(parked?.until ?? Number.POSITIVE_INFINITY);
      expect(task.model.requests).toHaveLength(2);
    });

    it.each(['99999999999', '-5', 'soon', '1e999'])('but not for %s', async (value) => {
      const task = await play([[status(429, { 'retry-after': value })]]);
      expect(delays(await completed(task))).toEqual([2_000]);
    });

    it('for as long as the provider cannot be reached', async () => {
      const free = createServer();
      await new Promise<void>((listening) => free.listen(0, '127.0.0.1', listening));
      const { port } = free.address() as { port: number };
      await new Promise((closed) => free.close(closed));
      for (const url of [`http://127.0.0.1:${port}`, 'http://nowhere.invalid']) {
        const task = await world.start(url);
        const parked = (events: TaskEvent[]) =>
          events.filter((one) => one.type === 'status' && one.status === 'parked');
        await until(async () => {
          await world.env.sleep('10s');
          return parked(await world.events(task.task)).length > 2;
        });
        await task.handle.cancel();
        await expect(task.handle.result()).rejects.toThrow();
        const events = await world.events(task.task);
        expect(delays(events)).toEqual([2_000, 4_000, 8_000]);
        expect(retries(events)).toEqual(['connection', 'connection', 'connection']);
      }
    });

    it('and a person is asked when a try that costs something has failed nine times', async () => {
      const task = await play(Array<Step[]>(9).fill([half, close()]));
      const { ask } = await asked(task, 60_000);
      expect(task.model.requests).toHaveLength(9);
      await task.handle.executeUpdate('answer', { args: [{ ask: ask.id, answer: 'yes' }] });
      await completed(task);
    });

    it('over an outage of a day, which is many tries, without a history that grows with it', async () => {
      const task = await play(Array<Step[]>(100).fill([status(529)]));
      await completed(task);
      expect(task.model.requests).toHaveLength(101);
      const { events } = await world.env.client.workflow.getHandle(task.task).fetchHistory();
      expect(events?.length).toBeLessThan(1_600);
      expect((await task.handle.describe()).runId).not.toBe(task.handle.firstExecutionRunId);
      expect(bodies(task)[100]).toBe(bodies(task)[0]);
    });
  });

  describe('that is whole, but', () => {
    it.each([
      ['without a call', [say('I am done.'), finish()], 'called no tool'],
      ['with a stop sequence', [say('I am done.'), finish('stop_sequence')], 'called no tool'],
      ['with a stop reason that nobody knows', [say('I am done.'), ...endsWith('tired')], 'called no tool'],
      ['nothing but reasoning', [think('Hm, let me see.'), finish()], 'called no tool'],
      ['paused', [say('I go on in a moment.'), finish('pause_turn')], 'Go on.'],
      ['cut in a text by the output limit', [say('I am'), finish('max_tokens')], 'too long'],
      ['cut in a text by the context window', [say('I am'), finish('model_context_window_exceeded')], 'too long'],
    ] as [string, Step[], string][])('%s is followed by another', async (_, answer, notice) => {
      const task = await play([answer]);
      const events = await completed(task);
      expect(bodies(task)).toHaveLength(2);
      expect(bodies(task)[1]).toContain(notice);
      expect(events.filter(isAsk)).toEqual([]);
    });

    it.each([
      ['without a call', [say('I am done.'), finish()]],
      ['paused', [say('A moment.'), finish('pause_turn')]],
      ['nothing but reasoning', [think('Hm, let me see.'), finish()]],
      ['cut in a text', [say('I am'), finish('max_tokens')]],
      ['cut in a call', [counting, callraw('write_to_file', '{"path":"a"}'), finish('max_tokens')]],
      [
        'cut in a call that looks whole',
        [callraw('write_to_file', '{"path":"a","content":"x"}'), finish('max_tokens')],
      ],
      ['a call of a tool that does not exist', [call('no_such_tool'), finish()]],
    ] as [string, Step[]][])('%s, again and again, ends after three', async (_, answer) => {
      const task = await play([answer], [answer, answer, answer]);
      await expect(task.handle.result()).rejects.toMatchObject({ cause: { type: 'mistake_limit' } });
      expect(task.model.requests).toHaveLength(3);
      expect(existsSync(join(task.workspace, 'a'))).toBe(false);
      expect(task.model.refused()).toEqual([]);
    });

    it.each([
      ['empty', [empty()]],
      ['blank', [say(' \n\t '), finish()]],
      ['an empty text', [say(''), finish()]],
    ] as [string, Step[]][])('%s is tried again after 2, 4 and 8 s, and then asked about', async (_, answer) => {
      const began = await world.env.currentTimeMs();
      const task = await play([answer], [answer, answer, answer]);
      const { ask } = await asked(task, 1_000);
      expect(ask.kind).toBe('api_req_failed');
      expect(ask.question).toMatch(/answered with nothing \(request req_fake_4\).*4th/);
      expect((await world.env.currentTimeMs()) - began).toBeGreaterThanOrEqual(14_000);
      const errors = (await world.events(task.task)).flatMap((one) =>
        one.type === 'say' && one.say === 'error' ? [one] : [],
      );
      expect(errors.map(({ slug }) => slug)).toEqual(Array(4).fill('provider-failed'));
      expect(errors[0]?.text).toContain('req_fake_1');
      expect(task.model.requests).toHaveLength(4);
      await task.handle.executeUpdate('answer', { args: ['and now for real: token-17'] });
      await completed(task);
      expect(bodies(task)[4]).toContain('token-17');
    });
  });

  describe('that the model refuses', () => {
    const stray = raw({ type: 'content_block_stop', index: 4 });
    it.each([
      ['without content', [finish('refusal')]],
      ['with an end of a block that never began', [stray, finish('refusal')]],
      ['after a text', [say('I would rather'), finish('refusal')]],
      ['in a text', [half, ...endsWith('refusal')]],
      ['after a call that has not begun', [call('execute_command', { command: 'touch a' }), finish('refusal')]],
      ['in a call', [counted({ half: true }), ...endsWith('refusal')]],
    ] as [string, Step[]][])('%s is asked about once, and nothing of it is done', async (_, answer) => {
      const task = await play([answer]);
      const { ask } = await asked(task);
      expect([ask.kind, ask.deadline]).toEqual(['api_req_failed', undefined]);
      expect(ask.question).toContain('refused to answer');
      expect(task.model.requests).toHaveLength(1);
      await task.handle.executeUpdate('answer', { args: ['put differently: token-99'] });
      await completed(task);
      expect(bodies(task)[1]).toContain('token-99');
      expect(existsSync(join(task.workspace, 'a')) || existsSync(join(task.workspace, 'counter'))).toBe(false);
    });

    it('after a call that has begun keeps the call and its result', async () => {
      const task = await play([[counting, say('but no more'), finish('refusal')]], [[say('I am'), finish('refusal')]]);
      await asked(task);
      await task.handle.executeUpdate('answer', { args: ['yes'] });
      await until(() => task.model.requests.length === 2);
      expect(resultsOf(task.model.requests[1]?.body)).toHaveLength(1);
      await until(async () => (await world.events(task.task)).filter(isAsk).length === 2);
      await task.handle.executeUpdate('answer', { args: ['no'] });
      await expect(task.handle.result()).rejects.toMatchObject({ cause: { type: 'provider' } });
      expect(readFileSync(join(task.workspace, 'counter'), 'utf8')).toBe('ran\n');
      expect(task.model.refused()).toEqual([]);
    });
  });

  describe('that is slow', () => {
    it('survives for as long as anything comes: pings, then text; arguments and nothing else', async () => {
      const pings = ping(15, 100);
      const slow = await play([[think('Hm.', { half: true }), pings, say('Now.'), counting, finish()]]);
      expect(delays(await completed(slow))).toEqual([]);
      const content = 'x'.repeat(300);
      const input = await play([[{ step: 'pace', ms: 60 }, call('write_to_file', { path: 'a', content }), finish()]]);
      expect(delays(await completed(input))).toEqual([]);
      expect(readFileSync(join(input.workspace, 'a'), 'utf8').trim()).toBe(content);
    });

    it('is given up when nothing but pings has come for as long as a stream may be open', async () => {
      const task = await play([[ping(10_000, 100)]]);
      const events = await completed(task);
      expect(retries(events)).toEqual(['too_long']);
      expect(task.model.requests[0]?.ended?.by).toBe('client');
    });
  });
});

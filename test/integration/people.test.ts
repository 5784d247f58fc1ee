import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { call, finish, type Step } from '../../src/fake-model/index.js';
import { isAsk, isClosed, modelEnv, startWorld, until, type World } from '../support/world.js';

const run = promisify(execFile);
const POLICY = { yolo: false, approve: [...DEFAULT_APPROVALS] };

/** Asks a question, then completes with what it was told. */
const asksOnce = ({ turn, lastResult }: { turn: number; lastResult: string }): Step[] =>
  turn === 0
    ? [call('ask_followup_question', { question: 'Tabs or spaces?', options: ['tabs', 'spaces'] }), finish()]
    : [call('attempt_completion', { result: `told: ${lastResult}` }), finish()];

/** Runs a command, then completes. */
const runsCommand =
  (command: string) =>
  ({ turn }: { turn: number }): Step[] =>
    turn === 0
      ? [call('execute_command', { command, requires_approval: false }), finish()]
      : [call('attempt_completion', { result: 'done' }), finish()];

describe('people', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const temporal = (...args: string[]) =>
    run(inject('temporalCli'), [...args, '--address', world.server.address, '--namespace', world.server.namespace]);

  const waitingTask = async () => {
    const model = await world.model({ responder: asksOnce });
    const started = await world.start(model, { policy: POLICY });
    const { ask, reply } = await world.event(started.task, isAsk);
    return { ...started, model, ask, reply };
  };

  const result = async (task: string) => {
    const { outcome } = await world.event(task, isClosed);
    if (outcome.outcome !== 'completed') throw new Error(`ended as ${JSON.stringify(outcome)}`);
    return world.journal.getText(outcome.result);
  };

  it('takes an answer from a second terminal, and refuses the next one', async () => {
    const { task, ask, model } = await waitingTask();
    const env = modelEnv({}, model);
    const first = await world.cli(['answer', task.slice(0, 8), ask.id, 'use tabs'], { env });
    expect(first).toMatchObject({ code: 0 });
    expect(await result(task)).toContain('use tabs');
    const second = await world.cli(['answer', task, ask.id, 'spaces'], { env });
    expect(second.code).toBe(1);
    expect(second.err).toMatch(/task-closed|ask-refused/);
    expect(model.refused()).toEqual([]);
  });

  it('takes an answer through the Temporal CLI, as an update and as a signal', async () => {
    const byUpdate = await waitingTask();
    await temporal('workflow', 'update', 'execute', '--name', 'answer', '-w', byUpdate.task, '-i', byUpdate.reply);
    expect(await result(byUpdate.task)).toContain('tabs');
    const bySignal = await waitingTask();
    await temporal('workflow', 'signal', '--name', 'answer', '-w', bySignal.task, '-i', '"just spaces"');
    expect(await result(bySignal.task)).toContain('just spaces');
  });

  it("takes an answer by the request that Temporal's own page sends", async () => {
    const { task, reply } = await waitingTask();
    const { namespace } = world.server;
    const ui = await world.server.ui();
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const answer = await fetch(`${ui}/api/v1/namespaces/${namespace}/workflows/${task}/update/answer`, {
      method: 'POST',
      headers: { origin: ui, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      body: JSON.stringify({
        waitPolicy: { lifecycleStage: 'UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED' },
        request: {
          meta: { updateId: 'from-the-page' },
          input: { args: { payloads: [{ metadata: { encoding: base64('json/plain') }, data: base64(reply) }] } },
        },
      }),
    });
    expect(answer.status, await answer.clone().text()).toBe(200);
    expect(await result(task)).toContain('tabs');
  });

  it('refuses stale ids, garbage and answers to nothing, and loses nothing', async () => {
    const { task, client, ask } = await waitingTask();
    const update = (input: string) =>
      temporal('workflow', 'update', 'execute', '--name', 'answer', '-w', task, '-i', input);
    await expect(update('{"ask":"ask-00000000","answer":"yes"}')).rejects.toThrow(/no open ask ask-00000000/);
    await expect(update('[1,2]')).rejects.toThrow(/not understood/);
    await expect(client.answer(task, { ask: 'ask-1', answer: 'yes' })).rejects.toMatchObject({ slug: 'ask-refused' });
    await temporal('workflow', 'signal', '--name', 'answer', '-w', task, '-i', '{"ask":"ask-1","answer":"no"}');
    await client.answer(task, { ask: ask.id, answer: 'message', text: 'at last' });
    expect(await result(task)).toContain('at last');
  });

  it('applies an answer with the same client id once, and says so', async () => {
    const { task, ask } = await waitingTask();
    const handle = world.temporal.workflow.getHandle(task);
    const answer = { ask: ask.id, answer: 'message', text: 'once', clientId: 'client-1' };
    const [one, two] = await Promise.all([1, 2].map(() => handle.executeUpdate('answer', { args: [answer] })));
    expect([one, two].map((reply) => (reply as { duplicate: boolean }).duplicate).sort()).toEqual([false, true]);
    expect(await result(task)).toContain('once');
  });

  it('can be followed in the Temporal UI: status, open ask, details with the JSON that answers', async () => {
    const { task, ask, client } = await waitingTask();
    const found = await until(async () => {
      const listed = world.temporal.workflow.list({ query: `LonghaulStatus="waiting" AND LonghaulAsk="${ask.id}"` });
      for await (const one of listed) if (one.workflowId === task) return one;
      return undefined;
    });
    expect(found.searchAttributes.LonghaulWaitingSince?.[0]).toBeInstanceOf(Date);
    const { stdout } = await temporal('workflow', 'metadata', '-w', task);
    expect(stdout).toContain('Tabs or spaces?');
    expect(stdout).toContain(`"ask":"${ask.id}"`);
    await client.answer(task, { answer: 'message', text: 'ok' });
    await result(task);
    const { events } = await world.temporal.workflow.getHandle(task).fetchHistory();
    const summaries = events?.map((event) => Buffer.from(event.userMetadata?.summary?.data ?? '').toString()) ?? [];
    expect(summaries.join('\n')).toContain('turn 1');
  });

  it('delivers a message sent in the middle of a command in the next request, once', async () => {
    const model = await world.model({ responder: runsCommand('sleep 2; echo slept') });
    const { task, client } = await world.start(model, {});
    await world.seen(task, (event) => event.type === 'say' && event.say === 'command');
    expect(await client.send(task, 'token-4711')).toEqual({ state: 'queued' });
    await result(task);
    const holding = model.requests.filter(({ body }) => JSON.stringify(body).includes('token-4711'));
    expect(holding.map(({ turn }) => turn)).toEqual([1]);
    expect(JSON.stringify(holding[0]?.body).split('token-4711')).toHaveLength(2);
    expect(model.refused()).toEqual([]);
  });

  it('goes on instead of ending when a message is waiting, and starts a follow-up when the task has ended', async () => {
    const model = await world.model({
      responder: ({ turn }) => [call('attempt_completion', { result: `end ${turn}` }), finish()],
    });
    const { task, client } = await world.start(model, {});
    expect(await result(task)).toBe('end 0');
    expect(await client.send(task, 'one thing more: token-0815')).toEqual({ state: 'follow_up' });
    const closed = await until(async () => {
      const all = (await world.events(task)).filter(({ event }) => event.type === 'closed');
      return all.length === 2 && all;
    });
    expect(closed).toHaveLength(2);
    const last = JSON.stringify(model.requests.at(-1)?.body);
    expect(last).toContain('token-0815');
    expect(last).toContain('end 0');
    expect(model.refused()).toEqual([]);
  });

  it('asks before a command, shows it, and tells the model when it is denied', async () => {
    const model = await world.model({ responder: runsCommand('touch canary') });
    const { task, client, workspace } = await world.start(model, { policy: POLICY });
    const { ask } = await world.event(task, isAsk);
    expect(ask).toMatchObject({ kind: 'command' });
    await expect(client.answer(task, { answer: 'yes' })).rejects.toMatchObject({ slug: 'ask-refused' });
    await client.answer(task, { ask: ask.id, answer: 'no', text: 'do not touch' });
    await world.event(task, isClosed);
    expect(() => readFileSync(join(workspace, 'canary'))).toThrow();
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('do not touch');
    expect(model.refused()).toEqual([]);
  });

  it('asks before it reads outside the workspace, under yolo too', async () => {
    const outside = world.workspace({ 'secret.txt': 'canary-secret' });
    const model = await world.model({
      responder: ({ turn }) =>
        turn === 0
          ? [call('read_file', { path: join(outside, 'secret.txt') }), finish()]
          : [call('attempt_completion', { result: 'done' }), finish()],
    });
    const { task, client } = await world.start(model, {});
    const { ask } = await world.event(task, isAsk);
    expect(ask).toMatchObject({ kind: 'tool' });
    await client.answer(task, { ask: ask.id, answer: 'no' });
    await world.event(task, isClosed);
    expect(JSON.stringify(model.requests.map(({ body }) => body))).not.toContain('canary-secret');
  });
});

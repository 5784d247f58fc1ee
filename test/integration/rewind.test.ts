import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StartRequest } from '../../src/client.js';
import { DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { finish, type Responder, type Step, say, stall } from '../../src/fake-model/index.js';
import { isEnd } from '../../src/fake-model/steps.js';
import { command, completes, ended, lastRequest, linesOf, question } from '../support/resuming.js';
import { updateByCli } from '../support/temporal-cli.js';
import { isAsk, markedProcesses, startWorld, until, type World } from '../support/world.js';

const ALL = { yolo: false, approve: [...DEFAULT_APPROVALS, 'all' as const] };

/** Plays `first` by turn until the conversation is taken back, then `then`. */
function script(first: (turn: number) => Step[], then: (turn: number) => Step[] = () => [completes('the end')]) {
  const now = { back: false };
  const responder: Responder = ({ turn }) => {
    const steps = now.back ? then(turn) : first(turn);
    return steps.some(isEnd) ? steps : [...steps, finish()];
  };
  return { now, responder };
}

describe('a conversation that is taken back', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const begin = async ({ now, responder }: ReturnType<typeof script>, request: Partial<StartRequest> = {}) => {
    const model = await world.model({ responder });
    const started = await world.start(model, { policy: ALL, prompt: 'PROMPT-1', ...request });
    return { model, now, ...started };
  };
  const rewinds = async (task: string) =>
    (await world.events(task)).flatMap(({ event }) => (event.type === 'rewound' ? [event] : []));

  it('while a command runs, which is ended; its answer and what the earlier ones gave stay when it goes back to that', async () => {
    const { task, client, model, now, workspace } = await begin(
      script((turn) => [command(turn === 0 ? 'echo FIRST; echo x >> counter' : 'echo y >> counter; sleep 300')]),
    );
    await until(() => linesOf(workspace).length === 2);
    const messages = await client.messages(task);
    expect(messages.map(({ number, role, calls }) => [number, role, calls])).toEqual([
      [1, 'user', 0],
      [2, 'assistant', 1],
      [3, 'user', 0],
      [4, 'assistant', 1],
    ]);
    now.back = true;
    expect(await client.rewind(task, 4, 'WORDS-1')).toEqual({ kept: 4, dropped: 0 });
    expect((await ended(world, task)).outcome).toBe('completed');
    expect(markedProcesses(`LONGHAUL_TASK=${task}`)).toEqual([]);
    const { times, text } = lastRequest(model);
    expect([times('PROMPT-1'), times('FIRST'), times('WORDS-1'), times('sleep 300')]).toEqual([1, 2, 1, 1]);
    expect(text).toContain('was interrupted');
    expect(linesOf(workspace)).toEqual(['x', 'y']);
  });

  it.each([
    [1, 1, 0],
    [2, 1, 1],
    [3, 1, 1],
  ])('to message %i while a command runs', async (message, prompts, firsts) => {
    const { task, client, model, now, workspace } = await begin(
      script((turn) => [command(turn === 0 ? 'echo x >> counter' : 'echo y >> counter; sleep 300')]),
    );
    await until(() => linesOf(workspace).length === 2);
    now.back = true;
    expect(await client.rewind(task, message, 'WORDS-1')).toEqual({ kept: message, dropped: 4 - message });
    await ended(world, task);
    expect(markedProcesses(`LONGHAUL_TASK=${task}`)).toEqual([]);
    const { times, messages } = lastRequest(model);
    expect([times('PROMPT-1'), times('echo x >> counter'), times('WORDS-1')]).toEqual([prompts, firsts, 1]);
    expect([times('echo y >>'), times('exit code 0')]).toEqual([0, firsts]);
    expect(messages).toHaveLength(message === 1 ? 1 : 3);
    expect(linesOf(workspace)).toEqual(['x', 'y']);
  });

  it('while an answer streams, and a message that goes with it is not lost', async () => {
    const { task, client, model, now } = await begin(
      script((turn) =>
        turn === 0 ? [command('echo FIRST; sleep 1')] : [say('Half of it. '.repeat(30), { half: true }), stall()],
      ),
    );
    await world.seen(task, (event) => event.type === 'say' && event.say === 'command');
    await client.send(task, 'TOKEN-1');
    await until(() => model.requests.length === 2);
    await until(async () => (await world.journal.readPartials(task, 0)).length > 0);
    expect(await client.messages(task)).toHaveLength(2);
    now.back = true;
    await client.rewind(task, 2);
    await ended(world, task);
    const { times } = lastRequest(model);
    expect([times('PROMPT-1'), times('TOKEN-1'), times('Half of it')]).toEqual([1, 1, 0]);
    expect(times('echo FIRST')).toBe(1);
  });

  it('while a question is open, which is closed', async () => {
    const { task, client, model, now } = await begin(
      script((turn) => [turn === 0 ? command('echo x >> counter') : question('Which?')]),
    );
    const { ask } = await world.event(task, isAsk);
    now.back = true;
    await updateByCli(world, task, 'rewind', '{"message":"1","text":"WORDS-1"}');
    await ended(world, task);
    expect(await client.openAsks(task)).toEqual([]);
    const closed = (await world.events(task)).flatMap(({ event }) => (event.type === 'ask_closed' ? [event] : []));
    expect(closed).toMatchObject([{ ask: ask.id, by: 'cancelled' }]);
    const { times, messages } = lastRequest(model);
    expect([messages.length, times('PROMPT-1'), times('WORDS-1'), times('Which?')]).toEqual([1, 1, 1, 0]);
  });

  it('while it is paused, and stays so', async () => {
    const { task, client, model, now } = await begin(script(() => [command('sleep 1; echo x >> counter')]));
    await world.seen(task, (event) => event.type === 'say' && event.say === 'command');
    await client.pause(task);
    const isPaused = async () => (await world.journal.getTask(task))?.status === 'paused';
    await until(isPaused);
    now.back = true;
    await client.rewind(task, 1);
    await until(isPaused);
    expect(model.requests).toHaveLength(1);
    await client.unpause(task);
    await ended(world, task);
    expect(lastRequest(model).messages).toHaveLength(1);
  });

  it('twice, to where it is already, and back behind that', async () => {
    const { task, client, model, now } = await begin(
      script(
        (turn) => [turn < 3 ? command(`echo ${turn}-NOTE`) : question('Which?')],
        (turn) => [turn === 1 ? question('And now?') : completes('the end')],
      ),
    );
    await world.event(task, isAsk);
    now.back = true;
    await client.pause(task);
    expect(await client.rewind(task, 5)).toEqual({ kept: 5, dropped: 3 });
    expect(await client.messages(task)).toHaveLength(5);
    expect(await client.rewind(task, 5)).toEqual({ kept: 5, dropped: 0 });
    expect(await client.rewind(task, 4)).toEqual({ kept: 4, dropped: 1 });
    expect(await client.rewind(task, 2)).toEqual({ kept: 2, dropped: 2 });
    await client.unpause(task);
    await until(async () => (await client.openAsks(task)).length === 1);
    await client.answer(task, { answer: 'message', text: 'ANSWER-1' });
    await ended(world, task);
    const { times } = lastRequest(model);
    expect([times('PROMPT-1'), times('echo 0-NOTE'), times('1-NOTE'), times('ANSWER-1')]).toEqual([1, 1, 0, 1]);
    expect((await rewinds(task)).map(({ kept }) => kept)).toEqual([5, 5, 4, 2]);
  });

  it('of a task that has ended, which stays so until it is taken up again', async () => {
    const { task, client, model, now } = await begin(
      script((turn) => [turn === 0 ? command('echo FIRST') : turn === 1 ? command('echo SECOND') : completes('end 1')]),
    );
    await ended(world, task);
    now.back = true;
    const env = { ANTHROPIC_API_KEY: 'test-key', ANTHROPIC_BASE_URL: model.url };
    const listed = await world.cli(['rewind', task], { env });
    expect(listed.out.split('\n').filter((line) => /^\d/.test(line))).toHaveLength(6);
    const { code, lines } = await world.cli(['rewind', task, '3', 'WORDS-1', '--json'], { env });
    expect({ code, lines }).toEqual({ code: 0, lines: [{ v: 1, type: 'rewind', task, kept: 3, dropped: 3 }] });
    expect(await client.messages(task)).toHaveLength(3);
    expect(await client.rewind(task, 2)).toEqual({ kept: 2, dropped: 1 });
    expect((await world.journal.getTask(task))?.status).toBe('completed');
    await client.resume(task);
    await ended(world, task, 2);
    const { times, messages } = lastRequest(model);
    expect([times('echo FIRST'), times('SECOND'), times('end 1'), times('WORDS-1')]).toEqual([1, 0, 0, 1]);
    expect(messages).toHaveLength(3);
  });

  it('is as it was rewound to when the task is terminated before the next answer', async () => {
    const { task, client, model, now } = await begin(
      script((turn) => [command(turn === 0 ? 'echo FIRST' : 'sleep 300')]),
    );
    await until(async () => (await client.messages(task)).length === 4);
    await client.pause(task);
    now.back = true;
    await client.rewind(task, 2, 'WORDS-1');
    await world.temporal.workflow.getHandle(task).terminate();
    await client.resume(task);
    await ended(world, task, 2);
    const { times } = lastRequest(model);
    expect([times('PROMPT-1'), times('echo FIRST'), times('sleep 300'), times('WORDS-1')]).toEqual([1, 1, 0, 1]);
  });

  it('after the task has gone on as a new run', async () => {
    const { task, client, model, now, workspace } = await begin(
      script((turn) => [
        command(
          turn === 0 ? 'echo x >> counter; while ! test -e go; do sleep 0.1; done' : 'echo y >> counter; sleep 300',
        ),
      ]),
    );
    await until(() => linesOf(workspace).length === 1);
    const handle = world.temporal.workflow.getHandle(task);
    const { runId } = await handle.describe();
    const signal = () => handle.signal('answer', 'nothing is asked');
    for (let i = 0; i < 30; i++) await Promise.all(Array.from({ length: 50 }, signal));
    await world.cli(['send', task, 'TOKEN-1'], { env: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: model.url } });
    writeFileSync(`${workspace}/go`, '');
    await until(() => linesOf(workspace).length === 2);
    expect((await handle.describe()).runId).not.toBe(runId);
    now.back = true;
    expect(await client.rewind(task, 2)).toEqual({ kept: 2, dropped: 2 });
    await ended(world, task);
    expect(lastRequest(model).messages).toHaveLength(3);
  }, 60_000);

  it('or not at all when it is aborted in the same moment: its log and the reply say the same', async () => {
    const offsets = [0, 4, 8, 12, 16, 20, 25, 30, 40, 60];
    const tasks = await Promise.all(
      offsets.map(() => begin(script((turn) => [turn === 0 ? command('echo x') : question('Which?')]))),
    );
    await Promise.all(tasks.map(({ task }) => world.event(task, isAsk)));
    for (const [at, { task, client }] of tasks.entries()) {
      const [reply] = await Promise.allSettled([
        client.rewind(task, 1),
        new Promise((wait) => setTimeout(wait, offsets[at])).then(() => client.abort(task)),
      ]);
      await ended(world, task);
      expect((await rewinds(task)).length, `aborted after ${offsets[at]} ms`).toBe(
        reply.status === 'fulfilled' ? 1 : 0,
      );
    }
  });

  it('is refused where there is no such message, with what is not understood, and too late', async () => {
    const { task, client } = await begin(script((turn) => [turn === 0 ? command('echo x') : question('Which?')]));
    await world.event(task, isAsk);
    await expect(client.rewind(task, 9)).rejects.toMatchObject({ slug: 'message-not-found' });
    await expect(client.rewind(task, 'abc123')).rejects.toMatchObject({ slug: 'message-not-found' });
    await expect(client.rewind('none', 1)).rejects.toMatchObject({ slug: 'task-not-found' });
    const update = (input?: string) => updateByCli(world, task, 'rewind', input);
    await expect(update('9')).rejects.toThrow(/has 4 messages, and none is "9"/);
    await expect(update('{"message":"x"}')).rejects.toThrow(/number or the id/);
    await expect(update('{"message":1,"to":2}')).rejects.toThrow(/"to" is not known/);
    await expect(update('{"message":1,"text":" "}')).rejects.toThrow(/not blank/);
    await expect(update('{"message":1,"notAfter":1}')).rejects.toThrow(/too late/);
    await expect(update()).rejects.toThrow(/JSON object/);
    expect(await client.messages(task)).toHaveLength(4);
    expect(await client.openAsks(task)).toHaveLength(1);
    await update('3');
    await until(async () => (await rewinds(task)).length === 1);
    await client.abort(task);
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StartRequest } from '../../src/client.js';
import { DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { finish, type Responder, type Step, say, stall, status } from '../../src/fake-model/index.js';
import {
  command,
  completes,
  ended,
  lastRequest,
  linesOf,
  question,
  RESUMED,
  untilResumed,
} from '../support/resuming.js';
import { temporalCli } from '../support/temporal-cli.js';
import { isAsk, markedProcesses, modelEnv, startWorld, until, type World } from '../support/world.js';

const ASKING = { yolo: false, approve: [...DEFAULT_APPROVALS, 'all' as const] };
/** The result of a command that was ended from outside. */
const BROKEN_OFF = /The outcome is unknown|was interrupted|ended by SIG/;
const COUNT = command('echo x >> counter');

describe('a task that is taken up again', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const begin = async (responder: Responder, request: Partial<StartRequest> = {}) => {
    const model = await world.model({ responder });
    return { model, ...(await world.start(model, { policy: ASKING, prompt: 'PROMPT-1', ...request })) };
  };
  type Begun = Awaited<ReturnType<typeof begin>>;

  const runningCommand = ({ workspace }: Begun) => until(() => linesOf(workspace, 'second').length > 0);
  const terminate = ({ task }: Begun) => temporalCli(world, 'workflow', 'terminate', '-w', task);
  const second = (turn: number) => (turn === 0 ? [COUNT] : [command('echo y >> second; sleep 300')]);

  interface Case {
    first: (turn: number) => Step[];
    request?: Partial<StartRequest>;
    end: (task: Begun) => Promise<unknown>;
    /** Stands in what the model is told. */
    told: RegExp[];
  }
  const cases: Record<string, Case> = {
    'after it was completed': {
      first: (turn) => [turn === 0 ? COUNT : completes('the first end')],
      end: ({ task }) => ended(world, task),
      told: [/This task was completed just now/, /the first end/],
    },
    'after an abort during a command': {
      first: second,
      end: async (begun) => {
        await runningCommand(begun);
        await begun.client.abort(begun.task);
        await ended(world, begun.task);
      },
      told: [/This task was aborted by the person/, /nterrupted/],
    },
    'after an abort while a question was open': {
      first: (turn) => [turn === 0 ? COUNT : question('Which?')],
      end: async ({ task, client }) => {
        await world.event(task, isAsk);
        await client.abort(task);
        await ended(world, task);
      },
      told: [/aborted/, /Interrupted before it was executed./],
    },
    'after it has used its turns': {
      first: (turn) => [turn === 0 ? COUNT : command('echo y >> second')],
      request: { limits: { maxTurns: 2 } },
      end: async ({ task }) => expect((await ended(world, task)).outcome).toBe('budget'),
      told: [/ended by one of its limits/],
    },
    'after the provider has failed': {
      first: (turn) => (turn === 0 ? [COUNT] : [status(400)]),
      end: async ({ task, client }) => {
        const { ask } = await world.event(task, isAsk);
        await client.answer(task, { ask: ask.id, answer: 'no' });
        expect((await ended(world, task)).outcome).toBe('failed');
      },
      told: [/ended with a failure/],
    },
    'after Terminate in the middle of a command': {
      first: second,
      end: async (begun) => {
        await runningCommand(begun);
        await terminate(begun);
      },
      told: [/cut off without a proper end/, BROKEN_OFF],
    },
    'after Terminate while a question was open': {
      first: (turn) => [turn === 0 ? COUNT : question('Which?')],
      end: async (begun) => {
        await world.event(begun.task, isAsk);
        await terminate(begun);
      },
      told: [/cut off/, /Interrupted before it was executed./],
    },
    'after Terminate while the answer streams': {
      first: (turn) => (turn === 0 ? [COUNT] : [say('Half of it. '.repeat(30), { half: true }), stall()]),
      end: async (begun) => {
        await until(async () => (await world.journal.readPartials(begun.task, 0)).length > 0);
        await terminate(begun);
      },
      told: [/cut off/],
    },
    'after an abort by force in the middle of a command': {
      first: second,
      end: async (begun) => {
        await runningCommand(begun);
        await begun.client.forceAbort(begun.task);
      },
      told: [/cut off/, BROKEN_OFF],
    },
  };

  for (const text of [undefined, 'WORDS-1 of the person']) {
    it.each(Object.entries(cases))(
      `%s, ${text === undefined ? 'without words' : 'with words'}`,
      async (_, one) => {
        const begun = await begin(untilResumed(one.first), one.request);
        const { task, model, client, workspace } = begun;
        await one.end(begun);
        const before = (await world.events(task)).length;
        const resumed = await client.resume(task, text);
        expect(resumed.task).toBe(task);
        expect(await ended(world, task, 2)).toMatchObject({ outcome: 'completed', result: { text: 'resumed 1' } });
        const { text: sent, times } = lastRequest(model);
        for (const words of one.told) expect(sent).toMatch(words);
        expect([times('PROMPT-1'), times('echo x >> counter'), times(RESUMED)]).toEqual([1, 1, 1]);
        expect(times('WORDS-1')).toBe(text === undefined ? 0 : 1);
        expect(linesOf(workspace)).toEqual(['x']);
        expect(linesOf(workspace, 'second').length).toBeLessThanOrEqual(1);
        expect(markedProcesses(`LONGHAUL_TASK=${task}`)).toEqual([]);
        expect(resumed.from).toBeGreaterThan(before - 3);
      },
      60_000,
    );
  }

  it('again and again, with its earlier conversation once', async () => {
    const { task, model, client } = await begin(untilResumed((turn) => [turn === 0 ? COUNT : completes('end')]));
    await ended(world, task);
    for (const times of [1, 2, 3]) {
      await client.resume(task, `WORDS-${times}`);
      expect(await ended(world, task, times + 1)).toMatchObject({ result: { text: `resumed ${times}` } });
    }
    const { times } = lastRequest(model);
    expect([times('PROMPT-1'), times('WORDS-1'), times('WORDS-2'), times('WORDS-3')]).toEqual([1, 1, 1, 1]);
  });

  it('by one of two clients at once; the other is told', async () => {
    const { task, client, model } = await begin(untilResumed(() => [completes('end')]));
    await ended(world, task);
    const other = await world.client(model);
    const both = await Promise.allSettled([client.resume(task, 'ONE'), other.resume(task, 'TWO')]);
    const refused = both.filter((one) => one.status === 'rejected');
    expect(refused).toHaveLength(1);
    expect(refused[0]?.reason).toMatchObject({ slug: expect.stringMatching(/^task-state$/) });
    await ended(world, task, 2);
    const { times } = lastRequest(model);
    expect(times('ONE') + times('TWO')).toBe(1);
  });

  it('not while another one works in its folder', async () => {
    const { task, client, workspace } = await begin(untilResumed(() => [completes('end')]));
    await ended(world, task);
    const { client: second, task: other } = await begin(() => [question('Which?'), finish()], { workspace });
    await expect(client.resume(task)).rejects.toMatchObject({ slug: 'workspace-in-use' });
    expect((await world.journal.getTask(task))?.status).toBe('completed');
    await second.abort(other);
    await ended(world, other);
    await client.resume(task);
    await ended(world, task, 2);
  });

  it('also when the server has lost all it knew', async () => {
    const mine = await startWorld();
    try {
      const first = await mine.worker();
      const model = await mine.model({ responder: untilResumed((turn) => [turn === 0 ? COUNT : question('Which?')]) });
      const { task, workspace, client } = await mine.start(model, { policy: ASKING, prompt: 'PROMPT-1' });
      await mine.event(task, isAsk);
      await client.close();
      await first.stop();
      await mine.server.wipe();
      await mine.worker();
      const env = modelEnv({}, model);
      const { code, lines, err } = await mine.cli(['resume', task, 'WORDS-1', '--json'], { env });
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(lines.at(-1)).toMatchObject({ type: 'outcome', outcome: 'completed', result: 'resumed 1' });
      const { times, text } = lastRequest(model);
      expect([times('PROMPT-1'), times('WORDS-1'), times(RESUMED)]).toEqual([1, 1, 1]);
      expect(text).toContain('cut off');
      expect(linesOf(workspace)).toEqual(['x']);
    } finally {
      await mine.stop();
    }
  }, 90_000);

  it('after a reset and a Terminate, as the journal has it', async () => {
    const begun = await begin(untilResumed((turn) => [turn === 0 ? COUNT : question(`Question ${turn}?`)]));
    const { task, client, model, workspace } = begun;
    await world.event(task, isAsk);
    const handle = world.temporal.workflow.getHandle(task);
    const { events } = await handle.fetchHistory();
    const at = events?.findLast(({ workflowTaskCompletedEventAttributes: done }) => done != null);
    const { runId } = await handle.describe();
    const { runId: run } = await world.temporal.workflowService.resetWorkflowExecution({
      namespace: world.server.namespace,
      workflowExecution: { workflowId: task, runId },
      reason: 'a test',
      requestId: randomUUID(),
      workflowTaskFinishEventId: at!.eventId!,
    });
    await client.answer(task, { answer: 'message', text: 'ANSWER-1' });
    await until(async () => (await world.journal.runOf(task)) === run);
    await until(async () => (await world.events(task)).filter(({ event }) => event.type === 'ask').length >= 2);
    await terminate(begun);
    await client.resume(task);
    await ended(world, task, 2);
    const { times } = lastRequest(model);
    expect([times('PROMPT-1'), times('ANSWER-1'), times(RESUMED)]).toEqual([1, 1, 1]);
    expect(linesOf(workspace)).toEqual(['x']);
  }, 90_000);

  it('with the answers that only its log has: a refusal, and what was said to a question', async () => {
    const asksAll = { yolo: false, approve: [...DEFAULT_APPROVALS] };
    const { task, client, model } = await begin(
      untilResumed((turn) => (turn === 0 ? [command('echo refused'), command('echo skipped')] : [stall()])),
      { policy: asksAll },
    );
    const { ask } = await world.event(task, isAsk);
    await client.answer(task, { ask: ask.id, answer: 'no', text: 'FEEDBACK-1' });
    await until(() => model.requests.length === 2);
    await terminate({ task } as Begun);
    await client.resume(task);
    await ended(world, task, 2);
    const { times, text } = lastRequest(model);
    expect([times('FEEDBACK-1'), times('The person denied this call')]).toEqual([1, 1]);
    expect(text).toContain('Skipped');
  }, 60_000);

  it('does what was asked for last, not the finished commands of before', async () => {
    const five = [1, 2, 3, 4, 5].map((n) => command(`echo ${n} >> counter`));
    const { task, client, model, workspace } = await begin(
      untilResumed((turn) => (turn === 0 ? five : [say('On it.'), stall()])),
    );
    await until(() => linesOf(workspace).length === 5);
    await client.send(task, 'SECOND-PROMPT');
    await model.until((requests) => requests.length === 2);
    await client.abort(task);
    await ended(world, task);
    await client.resume(task);
    await ended(world, task, 2);
    expect(linesOf(workspace)).toEqual(['1', '2', '3', '4', '5']);
    expect(lastRequest(model).times('SECOND-PROMPT')).toBe(1);
  }, 60_000);

  it.each([
    ['before the approval', false],
    ['after the exit, while the next request is made', true],
  ])(
    'has one result for a call that was broken off %s',
    async (_, approved) => {
      const { task, client, model } = await begin(
        untilResumed((turn) => (turn === 0 ? [command('echo done')] : [stall()])),
        { policy: { yolo: false, approve: [...DEFAULT_APPROVALS, ...(approved ? (['all'] as const) : [])] } },
      );
      if (approved) await model.until((requests) => requests.length === 2);
      else await world.event(task, isAsk);
      await client.abort(task);
      await ended(world, task);
      await client.resume(task, 'continue');
      await ended(world, task, 2);
      const { text } = lastRequest(model);
      expect(text).toContain(approved ? 'exit code 0' : 'Interrupted before it was executed.');
      expect(text.indexOf('tool_result')).toBeLessThan(text.indexOf('continue'));
    },
    60_000,
  );

  it('as it has been set since: a higher limit holds as it is', async () => {
    const { task, client } = await begin(
      ({ turn }) => [turn < 20 ? command(`echo ${turn} >> counter`) : completes('end'), finish()],
      { limits: { maxTurns: 2 } },
    );
    expect((await ended(world, task)).outcome).toBe('budget');
    expect(await client.setLimits(task, { maxTurns: 5 })).toEqual({ limits: { maxTurns: 5 }, state: 'stored' });
    await client.resume(task);
    expect((await ended(world, task, 2)).outcome).toBe('budget');
    expect((await world.journal.getTask(task))?.turns).toBe(5);
    await client.resume(task);
    expect((await ended(world, task, 3)).outcome).toBe('budget');
    expect((await world.journal.getTask(task))?.turns).toBe(10);
  }, 60_000);

  it('is refused with what to do instead while it is open, and when it is unknown', async () => {
    const { task, client } = await begin(untilResumed(() => [question('Which?')]));
    await world.event(task, isAsk);
    await expect(client.resume(task)).rejects.toMatchObject({
      slug: 'task-state',
      next: expect.stringContaining('answer'),
    });
    await expect(client.resume('none')).rejects.toMatchObject({ slug: 'task-not-found' });
    await expect(client.resume(task, ' ')).rejects.toMatchObject({ slug: 'prompt-empty' });
    await client.abort(task);
  });
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StartRequest } from '../../src/client.js';
import type { Answer, AskKind } from '../../src/domain/asks.js';
import { call, finish, type Responder, status } from '../../src/fake-model/index.js';
import { answers, play } from '../support/playing.js';
import { lastTexts, resultsOf } from '../support/requests.js';
import { isAsk, isClosed, modelEnv, startWorld, type World } from '../support/world.js';

const ASKS = { policy: { yolo: false, approve: ['read' as const] } };
const TEXT = 'token-1234';

const ANSWERS = {
  yes: { answer: 'yes' },
  'yes and a text': { answer: 'yes', text: TEXT },
  no: { answer: 'no' },
  'no and a text': { answer: 'no', text: TEXT },
  'a message': { answer: 'message', text: TEXT },
} as const satisfies Record<string, Omit<Answer, 'ask'>>;
type Given = keyof typeof ANSWERS;

interface Effect {
  outcome: 'completed' | 'failed' | 'budget';
  /** The first result of the request that follows, whole. */
  result?: string | RegExp;
  /** The texts of that request that a person said. */
  said?: string[];
  /** Whether the call that was asked about has had its effect. */
  done?: boolean;
  mode?: 'act';
  /** Whether the call behind it in the same answer has been made. */
  next?: 'done' | 'skipped';
  /** Requests that the provider has got. */
  requests?: number;
}

interface Case {
  request: Partial<StartRequest>;
  responder: Responder;
  effects: Record<Given, Effect>;
}

const allowed = (result: RegExp, feedback?: string): Effect => ({
  outcome: 'completed',
  result:
    feedback === undefined ? result : new RegExp(`${result.source}.*<feedback>\\n${feedback}\\n</feedback>$`, 's'),
  done: true,
  next: 'done',
});
const refused = (feedback?: string): Effect => ({
  outcome: 'completed',
  result:
    feedback === undefined
      ? 'The person denied this call.'
      : `The person denied this call and said:\n<feedback>\n${feedback}\n</feedback>`,
  done: false,
  next: 'skipped',
});
const approval = (result: RegExp): Record<Given, Effect> => ({
  yes: allowed(result),
  'yes and a text': allowed(result, TEXT),
  no: refused(),
  'no and a text': refused(TEXT),
  'a message': refused(TEXT),
});
const completes = (said: string[], more: Partial<Effect> = {}): Effect => ({ outcome: 'completed', said, ...more });
const behind = call('list_files', { path: '.' });

/** What docs/asks.md says. */
const CASES: Record<AskKind, Case> = {
  followup: {
    request: ASKS,
    responder: answers([call('ask_followup_question', { question: 'Which?', options: ['small', 'large'] }), finish()]),
    effects: {
      yes: { outcome: 'completed', result: '<answer>\nyes\n</answer>' },
      'yes and a text': { outcome: 'completed', result: `<answer>\n${TEXT}\n</answer>` },
      no: { outcome: 'completed', result: '<answer>\nno\n</answer>' },
      'no and a text': { outcome: 'completed', result: `<answer>\n${TEXT}\n</answer>` },
      'a message': { outcome: 'completed', result: `<answer>\n${TEXT}\n</answer>` },
    },
  },
  plan_mode_respond: {
    request: { ...ASKS, mode: 'plan' },
    responder: answers([call('plan_mode_respond', { response: 'So.', options: ['small', 'large'] }), finish()]),
    effects: {
      yes: { outcome: 'completed', result: /switched to act mode[^<]*$/, mode: 'act' },
      'yes and a text': {
        outcome: 'completed',
        result: new RegExp(`switched to act mode.*\\n<user_message>\\n${TEXT}\\n</user_message>$`),
        mode: 'act',
      },
      no: { outcome: 'completed', result: '<user_message>\nno\n</user_message>' },
      'no and a text': { outcome: 'completed', result: `<user_message>\n${TEXT}\n</user_message>` },
      'a message': { outcome: 'completed', result: `<user_message>\n${TEXT}\n</user_message>` },
    },
  },
  tool: {
    request: ASKS,
    responder: answers([call('write_to_file', { path: 'canary', content: 'x\n' }), behind, finish()]),
    effects: approval(/^"canary" was created/),
  },
  command: {
    request: ASKS,
    responder: answers([call('execute_command', { command: 'touch canary' }), behind, finish()]),
    effects: approval(/^The command finished with exit code 0/),
  },
  mistake_limit_reached: {
    request: { ...ASKS, maxConsecutiveMistakes: 1 },
    responder: answers([call('read_file', { path: 'gone' }), finish()]),
    effects: {
      yes: completes([], { result: /gone/ }),
      'yes and a text': completes([`<feedback>\n${TEXT}\n</feedback>`], { result: /gone/ }),
      no: { outcome: 'failed', requests: 1 },
      'no and a text': completes([`<feedback>\n${TEXT}\n</feedback>`]),
      'a message': completes([`<feedback>\n${TEXT}\n</feedback>`]),
    },
  },
  api_req_failed: {
    request: ASKS,
    responder: answers(
      [behind, finish()],
      [status(401, {}, 1), call('attempt_completion', { result: 'done' }), finish()],
    ),
    effects: {
      yes: completes([], { requests: 3 }),
      'yes and a text': completes([`<user_message>\n${TEXT}\n</user_message>`], { requests: 3 }),
      no: { outcome: 'failed', requests: 2 },
      'no and a text': completes([`<user_message>\n${TEXT}\n</user_message>`], { requests: 3 }),
      'a message': completes([`<user_message>\n${TEXT}\n</user_message>`], { requests: 3 }),
    },
  },
  budget_limit_reached: {
    request: { ...ASKS, limits: { maxTurns: 4, softPercent: 25 } },
    responder: answers([behind, finish()]),
    effects: {
      yes: completes([]),
      'yes and a text': completes([`<user_message>\n${TEXT}\n</user_message>`]),
      no: { outcome: 'budget', requests: 1 },
      'no and a text': { outcome: 'budget', requests: 1 },
      'a message': completes([`<user_message>\n${TEXT}\n</user_message>`]),
    },
  },
};

describe('asks', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const opened = async (kind: AskKind) => {
    const { request, responder } = CASES[kind];
    const task = await play(world, responder, request);
    const { ask } = await world.event(task.task, isAsk);
    expect(ask.kind).toBe(kind);
    return { ...task, ask };
  };
  type Opened = Awaited<ReturnType<typeof opened>>;

  const checkEffect = async ({ task, model, workspace }: Opened, kind: AskKind, effect: Effect) => {
    expect((await world.event(task, isClosed)).outcome.outcome).toBe(effect.outcome);
    const body = model.requests[kind === 'api_req_failed' ? 2 : 1]?.body;
    if (effect.requests !== undefined) expect(model.requests).toHaveLength(effect.requests);
    const [first, second] = body ? resultsOf(body) : [];
    if (typeof effect.result === 'string') expect(first?.text).toBe(effect.result);
    if (effect.result instanceof RegExp) expect(first?.text).toMatch(effect.result);
    if (effect.said) {
      const texts = body ? lastTexts(body).filter((text) => text.startsWith('<')) : [];
      expect(texts).toEqual(effect.said);
    }
    if (effect.done !== undefined) expect(existsSync(join(workspace, 'canary'))).toBe(effect.done);
    if (effect.next) expect(/^Skipped/.test(second?.text ?? '')).toBe(effect.next === 'skipped');
    const modes = (await world.events(task)).flatMap(({ event }) => (event.type === 'mode' ? [event.mode] : []));
    expect(modes).toEqual(effect.mode ? [effect.mode] : []);
    // refused as the script says, and for no other reason
    expect(model.refused()).toEqual([]);
  };

  for (const kind of Object.keys(CASES) as AskKind[]) {
    it(`of the kind ${kind} do what each answer says`, async () => {
      const cells = Object.entries(CASES[kind].effects) as [Given, Effect][];
      await Promise.all(
        cells.map(async ([given, effect]) => {
          const task = await opened(kind);
          await task.client.answer(task.task, { ask: task.ask.id, ...ANSWERS[given] });
          await checkEffect(task, kind, effect);
        }),
      );
    });
  }

  it('take an option by its text or its number, and no number where there are none', async () => {
    for (const kind of ['followup', 'plan_mode_respond'] as const) {
      const wrapper = kind === 'followup' ? 'answer' : 'user_message';
      for (const given of ['large', '2']) {
        const task = await opened(kind);
        const env = modelEnv({}, task.model);
        expect(await world.cli(['answer', task.task, task.ask.id, given], { env })).toMatchObject({ code: 0 });
        await checkEffect(task, kind, { outcome: 'completed', result: `<${wrapper}>\nlarge\n</${wrapper}>` });
      }
    }
    const task = await opened('command');
    const env = modelEnv({}, task.model);
    expect(await world.cli(['answer', task.task, task.ask.id, '2'], { env })).toMatchObject({ code: 2 });
    await task.client.answer(task.task, { ask: task.ask.id, answer: 'no' });
    await checkEffect(task, 'command', refused());
  });

  it('stay open whatever else happens, and take only an answer with their id', async () => {
    const two = [call('execute_command', { command: 'touch canary' }), finish()];
    const task = await play(
      world,
      answers(two, [call('write_to_file', { path: 'other', content: '' }), finish()]),
      ASKS,
    );
    const first = (await world.event(task.task, isAsk)).ask;
    const handle = world.temporal.workflow.getHandle(task.task);
    await task.client.send(task.task, 'a word in between');
    await handle.executeUpdate('limits', { args: [{ maxTurns: 50 }] });
    await handle.executeUpdate('mode', { args: ['plan'] });
    await handle.executeUpdate('mode', { args: ['act'] });
    for (const answer of ['yes', { answer: 'yes' }, { ask: 'ask-00000000', answer: 'yes' }]) {
      await expect(handle.executeUpdate('answer', { args: [answer] })).rejects.toThrow();
    }
    expect((await task.client.openAsks(task.task)).map(({ id }) => id)).toEqual([first.id]);
    await task.client.answer(task.task, { ask: first.id, answer: 'yes' });
    const second = await world.seen(task.task, (event) => isAsk(event) && event.ask.id !== first.id);
    const late = task.client.answer(task.task, { ask: first.id, answer: 'yes' });
    await expect(late).rejects.toMatchObject({ slug: 'ask-refused' });
    expect(existsSync(join(task.workspace, 'other'))).toBe(false);
    await task.client.answer(task.task, { ask: (second as { ask: { id: string } }).ask.id, answer: 'no' });
    await world.event(task.task, isClosed);
    expect(existsSync(join(task.workspace, 'canary'))).toBe(true);
    expect(existsSync(join(task.workspace, 'other'))).toBe(false);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, finish } from '../../src/fake-model/index.js';
import { historiesOf } from '../support/histories.js';
import { answers, completed, play } from '../support/playing.js';
import { isAsk, startWorld, type World } from '../support/world.js';

/** One argument as it goes over the wire. */
const payload = (data: string | Uint8Array, encoding = 'json/plain') => ({
  metadata: { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});
const long = 'x'.repeat(1_300_000);

/** Arguments that no client of ours sends, but anybody can. None of them is an answer, a message or a change. */
const UNFIT = {
  'no JSON': [payload('garbage{')],
  'no UTF-8': [payload(Uint8Array.of(0xff, 0xfe))],
  nothing: [payload('')],
  'an unknown encoding': [payload('"x"', 'binary/strange')],
  'a protobuf': [payload('{}', 'json/protobuf')],
  'no encoding': [{ data: Buffer.from('"x"') }],
  'a second argument that is no JSON': [payload('{"none":1}'), payload('garbage{')],
  'a deep list': [payload('['.repeat(100_000) + ']'.repeat(100_000))],
  'JSON in a text that does not parse': [payload(JSON.stringify('{"a":'.repeat(1000)))],
  'another type': [payload('[17]')],
  'the id of an ask without end': [payload(JSON.stringify({ ask: long, answer: 'yes' }))],
  'a key without end': [payload(JSON.stringify({ [long]: 1 }))],
};

describe('what comes straight from Temporal', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  it.each([
    ['signal', ['answer', 'callReady', 'unknown']],
    ['update', ['answer', 'send', 'mode', 'limits', 'pause', 'unpause', 'rewind', 'unknown']],
  ] as const)('is ignored or refused as a %s that does not fit, and the task goes on', async (way, names) => {
    const question = [call('ask_followup_question', { question: 'Which?' }), finish()];
    const policy = { yolo: false, approve: [] };
    const { client, task, model } = await play(world, answers(question), { policy });
    const { ask } = await world.event(task, isAsk);
    for (const name of names) {
      for (const [what, payloads] of Object.entries(UNFIT)) {
        // many that are large go beyond what the server hands out in one workflow task, which nothing of ours can keep away
        if (way === 'signal' && what.endsWith('without end')) continue;
        if (way === 'signal') await signal(task, name, payloads);
        else expect(await update(task, name, payloads), `${name}: ${what}`).toBe('refused');
      }
    }
    await client.answer(task, { ask: ask.id, answer: 'message', text: 'This one.' });
    await completed(world, { task, model });
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('This one.');
    for (const { history } of await historiesOf(world.temporal, task)) {
      expect(history.events?.flatMap(({ workflowTaskFailedEventAttributes: failed }) => failed ?? [])).toEqual([]);
    }
  });

  type Payloads = (typeof UNFIT)[keyof typeof UNFIT];

  async function signal(task: string, signalName: string, payloads: Payloads): Promise<void> {
    const { workflowService, connection } = world.temporal;
    const { namespace } = world.server;
    const workflowExecution = { workflowId: task };
    await connection.withDeadline(Date.now() + 10_000, () =>
      workflowService.signalWorkflowExecution({ namespace, workflowExecution, signalName, input: { payloads } }),
    );
  }

  async function update(task: string, name: string, payloads: Payloads): Promise<'refused' | 'taken'> {
    const { workflowService, connection } = world.temporal;
    const request = { meta: { updateId: `${name}-${Math.random()}` }, input: { name, args: { payloads } } };
    const { namespace } = world.server;
    const workflowExecution = { workflowId: task };
    const { outcome } = await connection.withDeadline(Date.now() + 10_000, () =>
      workflowService.updateWorkflowExecution({
        namespace,
        workflowExecution,
        request,
        waitPolicy: { lifecycleStage: 3 },
      }),
    );
    return outcome?.failure ? 'refused' : 'taken';
  }
});

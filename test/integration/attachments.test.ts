import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePng } from '../../src/fake-model/image.js';
import { call, type FakeModel, finish, type Responder } from '../../src/fake-model/index.js';
import { historiesOf, payloadSizes } from '../support/histories.js';
import { isAsk, isClosed, modelEnv, startWorld, type TestWorker, until, type World } from '../support/world.js';

const ASKING = { yolo: false, approve: [] };
const completes = [call('attempt_completion', { result: 'done' }), finish()];
const asks: Responder = ({ turn }) =>
  turn === 0 ? [call('ask_followup_question', { question: 'What does it look like?' }), finish()] : completes;
const writes: Responder = ({ turn }) =>
  turn === 0 ? [call('write_to_file', { path: 'a.txt', content: 'a' }), finish()] : completes;

/** How often the content of an image is in the newest request. */
const times = (model: FakeModel, image: Buffer) =>
  JSON.stringify(model.requests.at(-1)?.body).split(image.toString('base64')).length - 1;

interface SentBlock {
  type: string;
  text: string;
  content?: { type: string }[];
}

const contentOf = (model: FakeModel, request: number, message: number): SentBlock[] => {
  const { messages } = model.requests[request]!.body as { messages: { content: SentBlock[] }[] };
  return messages.at(message)!.content;
};

describe('images and files', () => {
  let world: World;
  let worker: TestWorker;
  beforeAll(async () => {
    world = await startWorld();
    worker = await world.worker();
  });
  afterAll(() => world.stop());

  const file = (name: string, content: string | Buffer) => {
    const path = join(world.workspace(), name);
    writeFileSync(path, content);
    return path;
  };
  const events = async (task: string) => (await world.events(task)).map(({ event }) => event);
  /** The largest payload in the histories of the task's runs, bytes. */
  const largestPayload = async (task: string) => {
    const runs = await historiesOf(world.temporal, task);
    return { runs: runs.length, bytes: Math.max(...runs.flatMap(({ events }) => events.flatMap(payloadSizes))) };
  };

  it('go with a prompt: each once, in every request, and in the log by name', async () => {
    const image = makePng(31, 7);
    const model = await world.model({ responder: asks });
    const workspace = world.workspace({ 'src/a.ts': 'let a; // </file_content>\n' });
    const env = modelEnv({}, model);
    const args = ['-w', workspace, '--image', file('shot.txt', image), '--file', join(workspace, 'src/a.ts')];
    const ran = await world.cli(['run', 'Look.', ...args, '--json'], { env });
    expect(ran.code).toBe(3);
    const task = ran.lines[0]?.task as string;
    expect(ran.lines.find(({ say }) => say === 'task')).toMatchObject({
      attachments: [
        { kind: 'image', name: 'shot.txt', mediaType: 'image/png' },
        { kind: 'file', name: 'src/a.ts' },
      ],
    });
    const [prompt, picture, text] = contentOf(model, 0, 0);
    expect(prompt?.text).toBe('<task>\nLook.\n</task>');
    expect(picture?.type).toBe('image');
    expect(text?.text).toMatch(
      /^<file_content path="src\/a.ts" end="([0-9a-f]{16})">\nlet a; \/\/ <\/file_content>\n\n<\/file_content end="\1">$/,
    );
    await world.cli(['answer', task, 'red'], { env });
    await world.event(task, isClosed);
    expect([times(model, image), model.requests.length, model.refused()]).toEqual([1, 2, []]);
    const { head } = JSON.parse((await world.journal.getTask(task))?.carried ?? '') as { head: string };
    const stored = JSON.stringify(await world.journal.readConversation(head));
    expect([stored.includes('"type":"image"'), stored.includes(image.toString('base64'))]).toEqual([true, false]);
    expect((await largestPayload(task)).bytes).toBeLessThan(4_096);
    const { out } = await world.cli(['log', task]);
    expect(out).toContain('> [image: shot.txt]\n> [file: src/a.ts]');
  });

  it('go with a message to a running task, and with one that takes a closed task up again', async () => {
    const [first, second] = [makePng(32, 8), makePng(33, 9)];
    const model = await world.model({ responder: asks });
    const { task, client } = await world.start(model, { policy: ASKING });
    const { ask } = await world.event(task, isAsk);
    const env = modelEnv({}, model);
    expect((await world.cli(['send', task, 'See this.', '--image', file('a.png', first)], { env })).code).toBe(0);
    await client.answer(task, { ask: ask.id, answer: 'message', text: 'so' });
    await world.event(task, isClosed);
    expect(times(model, first)).toBe(1);
    await client.send(task, 'And this.', { images: [file('b.png', second)] });
    await until(async () => (await events(task)).filter(isClosed).length === 2);
    expect([times(model, first), times(model, second), model.refused()]).toEqual([1, 1, []]);
    const said = (await events(task)).flatMap((event) =>
      event.type === 'say' && event.say === 'user_feedback' ? [[event.text, event.attachments?.[0]?.name]] : [],
    );
    expect(said).toEqual([
      ['See this.', 'a.png'],
      ['And this.', 'b.png'],
    ]);
  });

  it('are an answer to a question, also without words', async () => {
    const image = makePng(34, 10);
    const model = await world.model({ responder: asks });
    const { task } = await world.start(model, { policy: ASKING });
    const { ask } = await world.event(task, isAsk);
    const given = await world.cli(['answer', task, ask.id, '--image', file('x', image)], { env: modelEnv({}, model) });
    expect(given).toMatchObject({ code: 0, err: '' });
    await world.event(task, isClosed);
    const [result] = contentOf(model, 1, -1);
    expect(result?.content?.map(({ type }) => type)).toEqual(['text', 'image']);
    expect([times(model, image), model.refused()]).toEqual([1, []]);
    const closed = (await events(task)).find(({ type }) => type === 'ask_closed');
    expect(closed).toMatchObject({
      by: 'person',
      from: 'cli',
      who: expect.any(String),
      attached: { bytes: expect.any(Number) },
    });
  });

  it('go with a refusal: the image stands behind the results, as the API wants it', async () => {
    const image = makePng(35, 11);
    const model = await world.model({ responder: writes });
    const { task, client } = await world.start(model, { policy: ASKING });
    const { ask } = await world.event(task, isAsk);
    const attached = { images: [file('no.png', image)], files: [file('why.md', 'Because.')] };
    await client.answer(task, { ask: ask.id, answer: 'no', text: 'like this' }, attached);
    await world.event(task, isClosed);
    const content = contentOf(model, 1, -1);
    expect(content.map(({ type }) => type)).toEqual(['tool_result', 'text', 'image']);
    expect(JSON.stringify(content[0])).toContain('Because.');
    expect([times(model, image), model.refused()]).toEqual([1, []]);
    expect(await world.cli(['log', task])).toMatchObject({
      out: expect.stringContaining('from a program: no, like this (with attachments)'),
    });
  });

  it('outlast the hand-over to a new run, and a worker that is killed', async () => {
    const [first, second] = [makePng(36, 12), makePng(37, 13)];
    const model = await world.model({ responder: ({ turn }) => (turn < 2 ? asks({ turn: 0 } as never) : completes) });
    const client = await world.client(model);
    const workspace = world.workspace();
    const { task } = await client.start({ prompt: 'Go.', workspace, policy: ASKING, images: [file('a.png', first)] });
    const asked = (count: number) => until(async () => (await events(task)).filter(isAsk)[count - 1]);
    await asked(1);
    const handle = world.temporal.workflow.getHandle(task);
    for (let sent = 0; sent < 1_500; sent += 100)
      await Promise.all(Array.from({ length: 100 }, () => handle.signal('answer', '{')));
    await client.send(task, 'See.', { images: [file('b.png', second)] });
    await client.answer(task, { answer: 'message', text: 'so' });
    const { ask } = await asked(2);
    await worker.kill9();
    worker = await world.worker();
    await client.answer(task, { ask: ask.id, answer: 'message', text: 'so' });
    await world.event(task, isClosed);
    expect([times(model, first), times(model, second), model.refused()]).toEqual([1, 1, []]);
    const { runs, bytes } = await largestPayload(task);
    expect(runs).toBe(2);
    expect(bytes).toBeLessThan(4_096);
  }, 60_000);

  it('that cannot be sent start and send nothing, and the error names the file', async () => {
    const model = await world.model({ responder: asks });
    const env = modelEnv({}, model);
    const bad = file('large.png', Buffer.alloc(10_000_000));
    const before = (await world.journal.listTasks()).length;
    const ran = await world.cli(['run', 'Look.', '-w', world.workspace(), '--image', bad], { env });
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toContain(`The image ${bad} is larger than 3,932,160 bytes.`);
    expect((await world.journal.listTasks()).length).toBe(before);
    const { task } = await world.start(model, { policy: ASKING });
    const { ask } = await world.event(task, isAsk);
    for (const words of [
      ['send', task, 'x'],
      ['answer', task, ask.id, 'x'],
    ])
      expect((await world.cli([...words, '--file', bad], { env })).err).toContain('bad-attachment');
    expect((await events(task)).some(({ type }) => type === 'ask_closed')).toBe(false);
    await world.cli(['abort', task], { env });
  });

  it('by a reference that leads nowhere, or to something else, cost themselves and not the task', async () => {
    const model = await world.model({ responder: asks });
    const { task } = await world.start(model, { policy: ASKING });
    await world.event(task, isAsk);
    const handle = world.temporal.workflow.getHandle(task);
    const notAnImage = await world.journal.putBlob('text');
    const list = [{ kind: 'image', name: 'x', mediaType: 'image/png', blob: notAnImage }];
    for (const attachments of [
      { blob: 'e'.repeat(64), bytes: 3 },
      notAnImage,
      await world.journal.putBlob(JSON.stringify(list)),
    ])
      await handle.executeUpdate('send', { args: [{ text: 'look', attachments }] });
    await expect(handle.executeUpdate('answer', { args: [{ answer: 'yes', images: ['x'] }] })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('longhaul answer --image FILE') },
    });
    await handle.executeUpdate('answer', { args: ['go on'] });
    await world.event(task, isClosed);
    expect(
      JSON.stringify(model.requests.at(-1)?.body).split('(Something was attached here, and is lost.)'),
    ).toHaveLength(4);
    expect(model.refused()).toEqual([]);
  });
});

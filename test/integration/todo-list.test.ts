import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/domain/events.js';
import { call, finish, type Step } from '../../src/fake-model/index.js';
import { answers, completed, play } from '../support/playing.js';
import { lastTexts } from '../support/requests.js';
import { startWorld, until, type World } from '../support/world.js';

const LIST = '- [x] look\n- [ ] change\n- [ ] test';
const LONG = Array.from({ length: 40 }, (_, at) => `- [ ] step number ${at} of a long list`).join('\n');

let reads = 0;
/** Each one another call. */
const read = (task_progress?: string): Step[] => [
  call('read_file', { path: 'a.txt', end_line: ++reads, ...(task_progress === undefined ? {} : { task_progress }) }),
  finish(),
];
const command = (task_progress: string): Step => call('execute_command', { command: 'true', task_progress });

describe('the todo list', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const listsOf = (events: TaskEvent[]) =>
    events.flatMap((event) => (event.type === 'say' && event.say === 'task_progress' ? [event] : []));
  const workspace = () => world.workspace({ 'a.txt': 'a\n' });

  it('is taken from any call, said once for each, and the last one is what people see', async () => {
    const task = await play(
      world,
      answers(
        read(LIST),
        read('nothing to list'),
        [
          command('- [x] look\n- [x] change\n- [ ] test'),
          call('read_file', { path: 'a.txt', task_progress: ' ' }),
          finish(),
        ],
        [call('ask_followup_question', { question: 'Go on?', task_progress: LONG }), finish()],
      ),
      { policy: { yolo: false, approve: ['read', 'all'] }, workspace: workspace() },
    );
    await world.seen(task.task, ({ type }) => type === 'ask');
    const shown = await world.cli(['show', task.task]);
    expect(shown.out).toContain('todo list: 0/40 done');
    expect(shown.out).toContain('○ step number 39');
    const json = await world.cli(['show', task.task, '--json']);
    expect(json.lines[0]).toMatchObject({ mode: 'act', limits: {}, todo: { text: LONG, done: 0, total: 40 } });
    const { details } = await until(async () => {
      const query = world.temporal.workflow
        .getHandle(task.task)
        .query<{ currentDetails?: string }>('__temporal_workflow_metadata');
      const details = (await query).currentDetails ?? '';
      return details.includes('Todo list') && { details };
    });
    expect(details).toContain('0 of 40 done');
    await task.client.answer(task.task, { answer: 'message', text: 'yes' });
    const events = await completed(world, task);
    expect(listsOf(events)).toMatchObject([
      { text: LIST, done: 1, total: 3 },
      { done: 2, total: 3 },
      { text: LONG, done: 0, total: 40 },
    ]);
  });

  it('is asked for when so many requests have gone by without it, and given back to the model', async () => {
    const task = await play(world, answers(read(), read(), read(LIST), read(), read(LONG), read(), read()), {
      workspace: workspace(),
      focusChain: { enabled: true, remindEvery: 2 },
    });
    await completed(world, task);
    const reminders = task.model.requests.map(({ body }) => lastTexts(body).filter((text) => /todo list/i.test(text)));
    expect(reminders.map((texts) => texts.length)).toEqual([0, 0, 1, 0, 0, 0, 0, 1]);
    expect(reminders[2]?.[0]).toContain('no todo list yet');
    expect(reminders[7]?.[0]).toContain(LONG);
    expect(reminders[7]?.[0]).toContain('0 of 40');
    const { system } = task.model.requests[0]!.body as { system: unknown };
    expect(JSON.stringify(system)).toContain('task_progress');
  });

  it('is neither asked for nor mentioned where that is off', async () => {
    const task = await play(world, answers(read(), read(), read()), {
      workspace: workspace(),
      focusChain: { enabled: false, remindEvery: 1 },
    });
    await completed(world, task);
    for (const { body } of task.model.requests) expect(lastTexts(body).join()).not.toMatch(/todo list/i);
    const { system } = task.model.requests[0]!.body as { system: unknown };
    expect(JSON.stringify(system)).not.toContain('todo list');
  });

  it('is asked for when a plan begins to be carried out, and not while it is made', async () => {
    const task = await play(
      world,
      answers(read(), read(), [call('plan_mode_respond', { response: 'So.' }), finish()]),
      { workspace: workspace(), mode: 'plan', focusChain: { enabled: true, remindEvery: 2 } },
    );
    await completed(world, task);
    const reminded = task.model.requests.map(({ body }) => lastTexts(body).some((text) => /todo list/i.test(text)));
    expect(reminded).toEqual([false, false, false, true]);
  });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskClient } from '../../src/client.js';
import { LonghaulError } from '../../src/domain/errors.js';
import type { TaskEvent } from '../../src/domain/events.js';
import { isOpen } from '../../src/domain/outcomes.js';
import { call, cut, finish, overloaded, pace, type Responder, type Step, say } from '../../src/fake-model/index.js';
import { historiesOf } from '../support/histories.js';
import { done } from '../support/playing.js';
import { seeded } from '../support/random.js';
import { isAsk, startWorld, until, type World } from '../support/world.js';

const SEED = Number(process.env.LONGHAUL_TEST_SEED) || 20_261_201;
const TASKS = Number(process.env.LONGHAUL_STORM_TASKS) || 5;
const COMMANDS = Number(process.env.LONGHAUL_STORM_COMMANDS) || 14;

/** What a person has told a task, and was told that it has been taken. */
interface Told {
  tokens: string[];
  /** Slugs of refusals, and what else came back. */
  refusals: string[];
}

type Act = (client: TaskClient, task: string, told: Told, random: () => number) => Promise<unknown>;

/** Everything that a person can do with a task, in shares. */
const ACTS: Act[] = [
  send,
  send,
  send,
  answer,
  answer,
  answer,
  (client, task) => client.pause(task),
  (client, task) => client.unpause(task),
  (client, task) => client.unpause(task),
  (client, task, _, random) => client.setMode(task, random() < 0.5 ? 'plan' : 'act'),
  (client, task, _, random) => client.setLimits(task, { maxTurns: 1 + Math.floor(random() * 60) }),
  (client, task, _, random) => client.rewind(task, 1 + Math.floor(random() * 4)),
  (client, task) => client.abort(task),
  (client, task) => client.resume(task),
  (client, task) => client.resume(task, 'Go on.'),
];

async function send(client: TaskClient, task: string, told: Told): Promise<void> {
  const token = `<token ${told.tokens.length} of ${task}>`;
  await client.send(task, token);
  told.tokens.push(token);
}

async function answer(client: TaskClient, task: string, _: Told, random: () => number): Promise<void> {
  const asks = (await client.journal.readEvents(task, 0, 10_000)).map(({ event }) => event).filter(isAsk);
  const ask = asks.at(-1)?.ask.id;
  if (ask === undefined) return;
  const given = random() < 0.5 ? ({ answer: 'yes' } as const) : ({ answer: 'message', text: 'As you like.' } as const);
  await client.answer(task, { ask, ...given });
}

const tail = (events: TaskEvent[]) =>
  events
    .slice(-40)
    .map((event) => JSON.stringify(event).slice(0, 250))
    .join('\n');

describe(`people who do everything at once while workers die (LONGHAUL_TEST_SEED=${SEED})`, () => {
  let world: World;
  let over = false;
  const random = seeded(SEED);
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(() => world.stop());

  /** An answer of any kind; each command leaves a line of its own. */
  const model: Responder = () => {
    if (over) return done;
    const counted = call('execute_command', { command: `echo ${line++} >> counter`, requires_approval: false });
    const answers: Step[][] = [
      [say('I look.'), call('list_files', { path: '.' }), counted, finish()],
      [pace(5), say('I write.'), call('write_to_file', { path: 'a', content: `${line}\n` }), counted, finish()],
      [call('ask_followup_question', { question: 'Which?' }), finish()],
      [call('plan_mode_respond', { response: 'This is my plan.' }), finish()],
      [say('I think about it.'), finish()],
      [say('Something is wr'), overloaded()],
      [counted, say('And then'), cut()],
      done,
    ];
    return answers[Math.floor(random() * answers.length)]!;
  };
  let line = 0;

  it('leaves tasks that go on, and loses nothing that it has taken', async () => {
    let worker = await world.worker();
    const fake = await world.model({ responder: model });
    const tasks = await Promise.all(Array.from({ length: TASKS }, () => world.start(fake, {})));
    const stop = new AbortController();
    const killing = (async () => {
      while (!stop.signal.aborted) {
        await sleep(2000 + random() * 3000);
        await worker.kill9();
        worker = await world.worker();
      }
    })();
    const all = await Promise.all(
      tasks.map(async ({ client, task }) => {
        const told: Told = { tokens: [], refusals: [] };
        for (let n = 0; n < COMMANDS; n++) {
          await sleep(random() * 800);
          const act = ACTS[Math.floor(random() * ACTS.length)]!;
          await act(client, task, told, random).catch((err: unknown) => {
            told.refusals.push(LonghaulError.is(err) ? `${err.slug}: ${err.message}` : String(err));
          });
        }
        return told;
      }),
    );
    stop.abort();
    await killing;
    over = true;
    await Promise.all(tasks.map(({ client, task }) => toItsEnd(client, task)));
    expect(fake.refused()).toEqual([]);
    for (const [at, { task, workspace }] of tasks.entries()) {
      const { tokens, refusals } = all[at]!;
      // said to be no state for it, closed, busy or gone: all of it with a page of its own
      expect(refusals.filter((slug) => !/^(task-|ask-refused|message-not-found|service-busy)/.test(slug))).toEqual([]);
      const events = (await world.events(task)).map(({ event }) => event);
      const shown = events.flatMap((event) =>
        event.type === 'say' && event.say === 'user_feedback' && event.text.startsWith('<token') ? [event.text] : [],
      );
      expect(shown.sort(), tail(events)).toEqual(tokens.sort());
      const results = events.flatMap((event) =>
        event.type === 'say' && (event.say === 'tool_result' || event.say === 'command_output') ? [event.call] : [],
      );
      expect(new Set(results).size).toBe(results.length);
      const lines = existsSync(join(workspace, 'counter')) ? readFileSync(join(workspace, 'counter'), 'utf8') : '';
      const ran = lines.split('\n').filter(Boolean);
      expect(new Set(ran).size, 'no command ran twice').toBe(ran.length);
      for (const { history } of await historiesOf(world.temporal, task)) {
        expect(history.events?.flatMap(({ workflowTaskFailedEventAttributes: failed }) => failed ?? [])).toEqual([]);
      }
    }
  }, 300_000);

  /** Whatever state it is in, a person brings it to its end. */
  async function toItsEnd(client: TaskClient, task: string): Promise<void> {
    const refused = () => undefined;
    await client.setLimits(task, { maxTurns: 1000 });
    const ended = until(async () => {
      const { status } = (await world.journal.getTask(task))!;
      if (status === 'completed') return true;
      await client.unpause(task).catch(refused);
      const events = (await world.events(task)).map(({ event }) => event);
      const closed = new Set(events.flatMap((event) => (event.type === 'ask_closed' ? [event.ask] : [])));
      for (const { ask } of events.filter(isAsk)) {
        if (!closed.has(ask.id)) await client.answer(task, { ask: ask.id, answer: 'yes' }).catch(refused);
      }
      if (!isOpen(status)) await client.resume(task).catch(refused);
      await sleep(200);
      return undefined;
    }, 90_000);
    await ended.catch(async (cause) => {
      const events = (await world.events(task)).map(({ event }) => event);
      throw new Error(`Task ${task} does not come to its end: ${tail(events)}`, { cause });
    });
  }
});

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StartRequest } from '../../src/client.js';
import { DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { call, finish, type Responder, type Step, say, stall, status } from '../../src/fake-model/index.js';
import { isAsk, isClosed, ROOT, startWorld, until, type World, YOLO } from '../support/world.js';
import { neutral } from './recording.js';

/** Where the histories are kept that every build has to be able to replay. */
const FOLDER = join(ROOT, 'test', 'replay', 'histories');

const done: Step[] = [call('attempt_completion', { result: 'done' }), finish()];
const asks = { policy: { yolo: false, approve: [...DEFAULT_APPROVALS] } };
const answers =
  (...turns: Step[][]): Responder =>
  ({ turn }) =>
    turns[turn] ?? done;

/** A task that is brought to some point, where its history is kept. */
interface Recording {
  responder: Responder;
  request?: Partial<StartRequest>;
  bring(task: string, world: World, client: Awaited<ReturnType<World['start']>>['client']): Promise<unknown>;
  /** Of a task of several runs the first one's, instead of the newest one's. */
  firstRun?: true;
}

const command = (text: string) => call('execute_command', { command: text, requires_approval: false });
const isParked = async (world: World, task: string) => (await world.journal.getTask(task))?.status === 'parked';

const RECORDINGS: Record<string, Recording> = {
  completed: {
    responder: answers(
      [say('I look.'), call('read_file', { path: 'a' }), call('read_file', { path: 'gone' }), finish()],
      [call('write_to_file', { path: 'b', content: 'x\n' }), command('cat b'), finish()],
      [say('And now?'), finish()],
    ),
    bring: (task, world) => world.event(task, isClosed),
  },
  'ask-open': {
    responder: answers([call('ask_followup_question', { question: 'Which?', options: ['a', 'b'] }), finish()]),
    request: { ...asks, asks: { all: { remindMs: 200 } } },
    bring: (task, world) => world.seen(task, ({ type }) => type === 'ask_reminder'),
  },
  'approval-denied': {
    responder: answers([
      call('write_to_file', { path: 'b', content: 'x\n' }),
      call('read_file', { path: 'a' }),
      finish(),
    ]),
    request: asks,
    bring: async (task, world, client) => {
      const { ask } = await world.event(task, isAsk);
      await client.answer(task, { ask: ask.id, answer: 'no', text: 'not there' });
      await world.event(task, isClosed);
    },
  },
  'mid-turn': {
    responder: answers([command('sleep 30'), call('read_file', { path: 'a' }), finish()]),
    bring: (task, world) => world.seen(task, (event) => event.type === 'say' && event.say === 'command'),
  },
  streaming: {
    responder: answers([command('true'), say('and then'), stall()]),
    bring: (task, world) => world.seen(task, (event) => event.type === 'say' && event.say === 'command_output'),
  },
  cancelled: {
    responder: answers([command('sleep 30'), finish()]),
    bring: async (task, world, client) => {
      await world.seen(task, (event) => event.type === 'say' && event.say === 'command');
      await client.abort(task);
      await world.event(task, isClosed);
    },
  },
  'handed-over': {
    // every call is another one: repeated ones would be taken for a loop
    responder: ({ turn }) =>
      turn < 200
        ? [
            ...Array.from({ length: 3 }, (_, at) => call('write_to_file', { path: `f${at}`, content: `${turn}` })),
            finish(),
          ]
        : done,
    bring: (task, world) => world.event(task, isClosed, 120_000),
    firstRun: true,
  },
  parked: {
    responder: () => [status(429, { 'retry-after': '7200' })],
    bring: (task, world) => until(() => isParked(world, task)),
  },
  retried: {
    responder: answers([status(529, {}, 1), ...done]),
    bring: (task, world) => world.event(task, isClosed),
  },
  paused: {
    responder: answers([command('sleep 1'), finish()], [command('true'), finish()]),
    bring: async (task, world, client) => {
      await world.seen(task, (event) => event.type === 'say' && event.say === 'command');
      await client.pause(task);
      await world.seen(task, (event) => event.type === 'status' && event.status === 'paused');
      await client.unpause(task);
      await world.event(task, isClosed);
    },
  },
  rewound: {
    responder: answers([call('read_file', { path: 'a' }), finish()], [command('sleep 30'), finish()]),
    bring: async (task, world, client) => {
      await world.seen(task, (event) => event.type === 'say' && event.say === 'command');
      await client.rewind(task, 1, 'another way');
      await world.seen(task, (event) => event.type === 'rewound');
      await client.abort(task);
      await world.event(task, isClosed);
    },
  },
  'plan-to-act': {
    responder: answers([call('plan_mode_respond', { response: 'First a, then b.' }), finish()]),
    request: { ...asks, mode: 'plan' },
    bring: async (task, world, client) => {
      await world.event(task, isAsk);
      await client.setMode(task, 'act');
      await world.event(task, isClosed);
    },
  },
  budget: {
    responder: ({ turn }) => [command(`echo ${turn}`), finish()],
    request: { ...YOLO, limits: { maxTurns: 4, softPercent: 50 } },
    bring: (task, world) => world.event(task, isClosed),
  },
};

/** @returns the exit code */
export async function main(): Promise<number> {
  const world = await startWorld();
  try {
    await world.worker();
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
    for (const [name, { responder, request, bring, firstRun }] of Object.entries(RECORDINGS)) {
      const model = await world.model({ responder });
      const workspace = world.workspace({ a: 'one\n' });
      const { task, client } = await world.start(model, { workspace, ...request });
      const handle = world.temporal.workflow.getHandle(task);
      const { runId } = await handle.describe();
      await bring(task, world, client);
      const kept = firstRun ? world.temporal.workflow.getHandle(task, runId) : handle;
      const history = await kept.fetchHistory();
      writeFileSync(join(FOLDER, `${name}.json`), neutral(history, workspace));
      process.stdout.write(`${name}: ${history.events?.length ?? 0} events\n`);
      await client.abort(task).catch(() => undefined);
    }
  } finally {
    await world.stop();
  }
  return 0;
}

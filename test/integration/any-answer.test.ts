import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskClient } from '../../src/client.js';
import {
  call,
  callraw,
  close,
  cut,
  type FakeModel,
  finish,
  overloaded,
  pace,
  type Step,
  say,
  stall,
} from '../../src/fake-model/index.js';
import { done as completes, play } from '../support/playing.js';
import { view } from '../support/viewing.js';
import { isAsk, isClosed, startWorld, type TestWorker, until, type World } from '../support/world.js';

const SEED = Number(process.env.LONGHAUL_TEST_SEED ?? 20_270_101);
/** Answers that arrive at once, and rounds of them: 40 in all. */
const AT_ONCE = 8;
const ROUNDS = Number(process.env.LONGHAUL_TEST_ROUNDS ?? 5);

const KINDS = ['ok', 'read', 'error', 'denied', 'timeout', 'unknown tool', 'bad json'] as const;
const FAULTS = ['none', 'cut', 'close', 'overloaded', 'stall'] as const;

const PROTOCOLS = ['native', 'native', 'text'] as const;

interface Answer {
  protocol: (typeof PROTOCOLS)[number];
  calls: { kind: (typeof KINDS)[number]; text: boolean }[];
  /** The last call is cut by the output limit. */
  truncated: boolean;
  fault: (typeof FAULTS)[number];
  /** Call at which the fault strikes, and whether half of the call has arrived by then. */
  at: number;
  half: boolean;
  paceMs: number;
}

const answer: fc.Arbitrary<Answer> = fc.record({
  protocol: fc.constantFrom(...PROTOCOLS),
  calls: fc.array(fc.record({ kind: fc.constantFrom(...KINDS), text: fc.boolean() }), { minLength: 1, maxLength: 8 }),
  truncated: fc.boolean(),
  fault: fc.constantFrom(...FAULTS),
  at: fc.nat(8),
  half: fc.boolean(),
  paceMs: fc.constantFrom(0, 0, 5, 20),
});
/** When the worker is killed: as soon as that answer has sent so many events. */
const kill = fc.option(fc.record({ answer: fc.nat(AT_ONCE - 1), events: fc.nat(40) }), { freq: 2 });

const counting = (name: string, rest = '', more = {}) =>
  call('execute_command', { command: `echo x >> ${name}${rest}`, requires_approval: false, ...more });

const outside = join(mkdtempSync(join(tmpdir(), 'longhaul-outside-')), 'secret');
writeFileSync(outside, 'canary\n');

function stepOf(kind: (typeof KINDS)[number], at: number): Step {
  switch (kind) {
    case 'ok':
      return counting(`n${at}`);
    case 'read':
      return call('read_file', { path: 'file' });
    case 'error':
      return call('read_file', { path: 'gone' });
    case 'denied':
      return call('read_file', { path: outside });
    case 'timeout':
      return counting(`n${at}`, '; sleep 20', { timeout: 0.3 });
    case 'unknown tool':
      return call('no_such_tool', { at });
    case 'bad json':
      return callraw('execute_command', `{"command":"echo x >> n${at}\\H"}`);
  }
}

/** The same call in text; a tool that does not exist is no call there, and there is no JSON that could be bad. */
function textStepOf(kind: (typeof KINDS)[number], at: number): Step {
  const step = stepOf(kind === 'unknown tool' || kind === 'bad json' ? 'error' : kind, at);
  if (step.step !== 'call') throw new Error('no call');
  const values = Object.entries(step.input).map(([name, value]) => `<${name}>${value}</${name}>\n`);
  return say(`<${step.name}>\n${values.join('')}</${step.name}>`);
}

function stepsOf({ protocol, calls, truncated, fault, at, half, paceMs }: Answer): Step[] {
  const steps: Step[] = [pace(paceMs), say('it begins')];
  const strikes = at % calls.length;
  for (const [index, { kind, text }] of calls.entries()) {
    if (text) steps.push(say(`text ${index}, of an answer that ends somehow`));
    const one = protocol === 'text' ? textStepOf(kind, index) : stepOf(kind, index);
    const isHalf = (half && fault !== 'none' && index === strikes) || (truncated && index === calls.length - 1);
    steps.push(isHalf && 'half' in { half, ...one } ? ({ ...one, half: true } as Step) : one);
    if (index === strikes) steps.push(...faultOf(fault));
  }
  return [...steps, finish(truncated ? 'max_tokens' : protocol === 'text' ? 'end_turn' : undefined)];
}

function faultOf(fault: Answer['fault']): Step[] {
  switch (fault) {
    case 'none':
      return [];
    case 'cut':
      return [cut(1)];
    case 'close':
      return [close(1)];
    case 'overloaded':
      return [overloaded(1)];
    case 'stall':
      return [stall(1)];
  }
}

interface Block {
  type: string;
  id?: string;
  text?: string;
  tool_use_id?: string;
  is_error?: boolean;
  input?: { command?: string };
}

describe('any answer, however it is broken', () => {
  let world: World;
  let worker: TestWorker;
  const env = { LONGHAUL_IDLE_LIMIT_MS: '1500' };
  beforeAll(async () => {
    world = await startWorld();
    worker = await world.worker({ env });
  });
  afterAll(() => world.stop());

  /** Says no to whatever is asked, until the task has closed. */
  const denyAll = async (client: TaskClient, task: string) => {
    const answered = new Set<string>();
    await until(async () => {
      const events = (await world.events(task)).map(({ event }) => event);
      for (const { ask } of events.filter(isAsk)) {
        if (answered.has(ask.id)) continue;
        expect(ask.kind).toBe('tool');
        answered.add(ask.id);
        await client.answer(task, { ask: ask.id, answer: 'no' });
      }
      return events.some(isClosed);
    }, 90_000);
  };

  const lines = (workspace: string, name: string) => {
    const path = join(workspace, name);
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
  };

  /** What the model was sent at last holds: one result for each call, and no call has run that it does not hold. */
  const check = (shape: Answer, model: FakeModel, workspace: string): string[] => {
    expect(model.refused()).toEqual([]);
    const { messages } = model.requests.at(-1)!.body as { messages: { role: string; content: Block[] }[] };
    const blocks = messages.filter(({ role }) => role === 'assistant').flatMap(({ content }) => content);
    const results = messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_result'));
    const calls = blocks.filter(({ type }) => type === 'tool_use');
    expect(results.map((one) => one.tool_use_id)).toEqual(calls.map(({ id }) => id));
    for (const [at, { kind }] of shape.calls.entries()) {
      const sent = calls.find(({ input }) => input?.command?.includes(`>> n${at}`));
      const result = results.find((one) => one.tool_use_id === sent?.id);
      const ran = lines(workspace, `n${at}`);
      if (kind === 'ok') expect(ran, `call ${at}`).toBe(result && !result.is_error ? 1 : 0);
      else expect(ran, `call ${at}`).toBeLessThanOrEqual(kind === 'timeout' && result ? 1 : 0);
    }
    const texts = blocks.flatMap(({ type, text = '' }) => (type === 'text' ? [text] : []));
    return texts.filter((text) => !/^\[(Response interrupted|No answer)/.test(text));
  };

  /** The same of an answer whose calls are text: what it says of each is in the text that follows. */
  const checkText = (shape: Answer, model: FakeModel, workspace: string): string => {
    expect(model.refused()).toEqual([]);
    const { messages } = model.requests.at(-1)!.body as { messages: { role: string; content: Block[] }[] };
    const textsOf = (role: string) =>
      messages.filter((one) => one.role === role).flatMap(({ content }) => content.map(({ text = '' }) => text));
    const said = textsOf('assistant').filter((text) => !/^\[(Response interrupted|No answer)/.test(text));
    const results = textsOf('user').filter((text) => /^\[\w+( for '.*')?\] Result:/.test(text));
    const calls = said.join('').match(/<(execute_command|read_file)>/g) ?? [];
    expect(results.length, JSON.stringify([shape, messages]).slice(0, 3000)).toBe(calls.length);
    for (const [at, { kind }] of shape.calls.entries()) {
      const result = results.find((text) => text.startsWith(`[execute_command for 'echo x >> n${at}`));
      const ran = lines(workspace, `n${at}`);
      if (kind === 'ok') expect(ran, `call ${at}`).toBe(result?.includes('exit code 0') ? 1 : 0);
      else expect(ran, `call ${at}`).toBeLessThanOrEqual(kind === 'timeout' && result ? 1 : 0);
    }
    return said.join('').replace(/<(execute_command|read_file)>[\s\S]*?(<\/\1>|$)/g, '');
  };

  const done = (protocol: Answer['protocol']): Step[] =>
    protocol === 'native'
      ? completes
      : [say('<attempt_completion>\n<result>done</result>\n</attempt_completion>'), finish('end_turn')];

  it(
    'leads to a conversation that is accepted, one result a call, no call twice, and one copy for every viewer',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(answer, { minLength: AT_ONCE, maxLength: AT_ONCE }), kill, async (shapes, strike) => {
          const tasks = await Promise.all(
            shapes.map(async (shape) => {
              const steps = stepsOf(shape);
              const task = await play(world, ({ turn }) => (turn === 0 ? steps : done(shape.protocol)), {
                toolProtocol: shape.protocol,
                policy: { yolo: false, approve: ['read', 'edit', 'all'] },
                maxConsecutiveMistakes: 1_000,
                workspace: world.workspace({ file: 'content\n' }),
              });
              const early = view(world.journal, task.task);
              return { ...task, shape, early, denied: denyAll(task.client, task.task) };
            }),
          );
          if (strike) {
            const { model } = tasks[strike.answer]!;
            await until(
              () => (model.requests[0]?.events ?? 0) >= strike.events || model.requests[0]?.ended !== undefined,
            );
            await worker.kill9();
            worker = await world.worker({ env });
          }
          const late = tasks.map(async ({ task }) => {
            await until(async () => (await world.events(task)).length > 4);
            return view(world.journal, task);
          });
          await Promise.all(tasks.map(({ denied }) => denied));
          for (const [at, { task, model, shape, workspace, early }] of tasks.entries()) {
            expect((await world.event(task, isClosed)).outcome.outcome).toBe('completed');
            const texts = shape.protocol === 'native' ? check(shape, model, workspace) : [];
            const text = shape.protocol === 'text' && checkText(shape, model, workspace).replace(/\s/g, '');
            const seen = [await early, await late[at]!, await view(world.journal, task)];
            for (const streams of seen) {
              const shown = [...streams].flatMap(([stream, text]) => (stream.endsWith(':out') ? [] : [text.trimEnd()]));
              if (text !== false) expect(shown.join('').replace(/\s/g, '')).toBe(text);
              else expect(shown.filter((one) => one !== '').sort()).toEqual(texts.map((one) => one.trimEnd()).sort());
            }
            const events = (await world.events(task)).map(({ event }) => event);
            const begun = events.filter((event) => event.type === 'say' && event.say === 'api_req_started');
            expect((await world.journal.totals(task)).requests).toBe(begun.length);
          }
        }),
        { seed: SEED, numRuns: ROUNDS, endOnFailure: true },
      );
    },
    ROUNDS * 60_000,
  );
});

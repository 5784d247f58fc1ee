import { EventEmitter } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Io } from '../../src/cli/io.js';
import type { AskKind } from '../../src/domain/asks.js';
import type { TaskEvent } from '../../src/domain/events.js';
import { callKey } from '../../src/domain/ids.js';
import { NO_USAGE } from '../../src/domain/usage.js';
import type { Journal } from '../../src/journal/journal.js';
import { openJournal } from '../../src/journal/open.js';

export const TASK = 'task-0001';
export const TURN = '11111111-1111-4111-8111-111111111111';
export const CALL = callKey(TURN, 1);
export const USAGE = { ...NO_USAGE, inputTokens: 1200, outputTokens: 34 };

export interface TestIo extends Io {
  stdin: PassThrough & { isTTY?: boolean };
  signals: EventEmitter;
  text(): string;
  errors(): string;
  /** One object a line. */
  lines(): Record<string, unknown>[];
}

export function testIo(more: Partial<Io> = {}): TestIo {
  const [stdin, stdout, stderr] = [new PassThrough(), more.stdout ?? new PassThrough(), new PassThrough()];
  const written = { out: '', err: '' };
  stdout.on('data', (chunk) => {
    written.out += String(chunk);
  });
  stderr.on('data', (chunk) => {
    written.err += String(chunk);
  });
  const io: Io = {
    stdin,
    stdout,
    stderr,
    env: {},
    cwd: process.cwd(),
    command: 'longhaul',
    interactive: false,
    colour: false,
    live: false,
    signals: new EventEmitter(),
    ...more,
  };
  return Object.assign(io, {
    stdin: io.stdin as PassThrough,
    signals: io.signals as EventEmitter,
    text: () => written.out,
    errors: () => written.err,
    lines: () =>
      written.out
        .trimEnd()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
  });
}

export interface TestHome {
  home: string;
  journal: Journal;
  log(...events: TaskEvent[]): Promise<number>;
  remove(): Promise<void>;
}

/** A new home with a journal and one task in it. */
export async function testHome(): Promise<TestHome> {
  const home = await mkdtemp(join(tmpdir(), 'longhaul-cli-'));
  const journal = await openJournal({ home });
  await journal.createTask({ task: TASK, workspace: '/tmp/ws', model: 'model-1', title: 'Fix it', input: '{}' });
  return {
    home,
    journal,
    log: (...events) =>
      journal.append(
        TASK,
        events.map((event) => ({ event })),
      ),
    async remove() {
      await journal.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

export const said = {
  status: (status: 'running' | 'waiting'): TaskEvent => ({ type: 'status', status }),
  request: (attempt = 1): TaskEvent => ({
    type: 'say',
    say: 'api_req_started',
    turn: TURN,
    attempt,
    number: 1,
    model: 'model-1',
  }),
  text: (text: string, attempt = 1): TaskEvent => ({ type: 'say', say: 'text', turn: TURN, attempt, block: 0, text }),
  tool: (tool: string, summary: string): TaskEvent => ({
    type: 'say',
    say: 'tool',
    turn: TURN,
    call: CALL,
    tool,
    summary,
  }),
  command: (summary: string): TaskEvent => ({
    type: 'say',
    say: 'command',
    turn: TURN,
    call: CALL,
    tool: 'execute_command',
    summary,
  }),
  toolResult: (status: 'done' | 'error', text: string): TaskEvent => ({
    type: 'say',
    say: 'tool_result',
    call: CALL,
    tool: 'read_file',
    status,
    text,
    ms: 12,
  }),
  output: (text: string): TaskEvent => ({
    type: 'say',
    say: 'command_output',
    call: CALL,
    tool: 'execute_command',
    status: 'done',
    text,
    ms: 1500,
  }),
  ask: (id: string, kind: AskKind, more: object = {}): TaskEvent => ({
    type: 'ask',
    ask: { id, kind, question: `Question ${id}?`, opened: 1, ...more },
    reply: JSON.stringify({ ask: id, answer: 'yes' }),
  }),
  answered: (ask: string, text?: string): TaskEvent => ({
    type: 'ask_closed',
    ask,
    by: 'person',
    answer: 'message',
    ...(text === undefined ? {} : { text }),
  }),
  completed: (text: string): TaskEvent => ({
    type: 'closed',
    outcome: { outcome: 'completed', result: { text } },
    totals: { turns: 2, usage: USAGE, cost: 0.0123 },
  }),
  ended: (outcome: 'cancelled' | 'budget' | 'failed'): TaskEvent => ({
    type: 'closed',
    outcome:
      outcome === 'cancelled'
        ? { outcome }
        : outcome === 'budget'
          ? { outcome, limit: 'turns', message: 'the limit of 2 turns is reached' }
          : { outcome, class: 'provider', message: 'no answer' },
    totals: { turns: 2, usage: USAGE, cost: 0.0123 },
  }),
};

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskEvent } from '../../src/domain/events.js';
import { callKey } from '../../src/domain/ids.js';
import { call, finish, type Responder, say } from '../../src/fake-model/index.js';
import { Transcript } from '../../src/journal/rebuild.js';
import { isClosed, startWorld, type TestWorker, until, type World } from '../support/world.js';

/** What the scripted model does in its six turns: reads, an edit, a command, a question, a denied call, the end. */
const script: Responder = ({ turn }) => {
  switch (turn) {
    case 0:
      return [say('I look.'), call('read_file', { path: 'a' }), call('read_file', { path: 'gone' }), finish()];
    case 1:
      return [call('write_to_file', { path: 'out', content: 'one\ntwo\n' }), say('Written.'), finish()];
    case 2:
      return [call('execute_command', { command: 'echo ran >> counter', requires_approval: false }), finish()];
    case 3:
      return [call('ask_followup_question', { question: 'Which colour?' }), finish()];
    case 4:
      return [call('read_file', { path: '/etc/hostname' }), finish()];
    default:
      return [call('attempt_completion', { result: 'done' }), finish()];
  }
};
const TURNS = 6;

/** A result that says honestly that nobody knows, that it did not come to it, or that it was done across a restart. */
const HONEST = /unknown|interrupted|not executed|a restart came between/i;

export interface PointResult {
  /** The point was passed, so that the worker has killed itself. */
  died: boolean;
  /** What is not as it has to be; empty when all is well. */
  problems: string[];
  /** Results that differ from those of a run without a kill, and say so. */
  honest: number;
}

/** Plays the same task again and again, with a worker that kills itself at one point. */
export class PointRunner {
  private expected: SentMessage[] | undefined;

  private constructor(private readonly world: World) {}

  static async start(): Promise<PointRunner> {
    return new PointRunner(await startWorld());
  }

  stop(): Promise<void> {
    return this.world.stop();
  }

  /** Plays it without a kill. @returns the names of the points that it passes, in order */
  async count(): Promise<string[]> {
    const log = join(this.world.home, 'fault-points.log');
    const { problems } = await this.play({ LONGHAUL_FAULT_LOG: log });
    if (problems.length > 0) throw new Error(`Without a kill: ${problems.join(' ')}`);
    return readFileSync(log, 'utf8').trimEnd().split('\n');
  }

  /** @param point from 1 */
  play(env: { LONGHAUL_FAULT_POINT: string } | { LONGHAUL_FAULT_LOG: string }): Promise<PointResult> {
    return this.run(env);
  }

  private async run(env: NodeJS.ProcessEnv): Promise<PointResult> {
    const { world } = this;
    const model = await world.model({ responder: script });
    let worker: TestWorker = await world.worker({ env });
    const first = worker.pid;
    const workspace = world.workspace({ a: 'the first\n' });
    const { task, client } = await world.start(model, {
      workspace,
      policy: { yolo: false, approve: ['read', 'edit', 'all'] },
    });
    const stop = new AbortController();
    const answering = this.answer(task, client, stop.signal);
    await until(async () => {
      if (await this.isClosed(task)) return true;
      if (isAlive(worker.pid)) return undefined;
      worker = await world.worker();
      return undefined;
    }, 90_000);
    stop.abort();
    await answering;
    const died = worker.pid !== first;
    await worker.stop();
    const problems = await this.problemsOf(task, workspace, model.requests.length);
    if (model.refused().length > 0) problems.push(`The model refused ${model.refused().length} requests.`);
    const sent = sentIn(model.requests.at(-1)?.body);
    const events = await this.world.events(task);
    const honest = this.compare(
      sent,
      events.some(({ event }) => isCut(event)),
      problems,
    );
    return { died, problems, honest };
  }

  /** Answers what is asked, as often as it takes: the worker may die in the middle. */
  private async answer(task: string, client: Awaited<ReturnType<World['start']>>['client'], signal: AbortSignal) {
    for (const done = new Set<string>(); !signal.aborted; await new Promise((next) => setTimeout(next, 50))) {
      const events = (await this.world.events(task)).map(({ event }) => event);
      const closed = new Set(events.flatMap((event) => (event.type === 'ask_closed' ? [event.ask] : [])));
      for (const event of events) {
        if (event.type !== 'ask' || closed.has(event.ask.id) || done.has(event.ask.id)) continue;
        const { id, kind } = event.ask;
        const answer = kind === 'followup' ? { answer: 'message', text: 'blue' } : { answer: 'no' };
        const given = await client.answer(task, { ask: id, ...answer } as Parameters<typeof client.answer>[1]).then(
          () => true,
          () => false,
        );
        if (given) done.add(id);
      }
    }
  }

  private async isClosed(task: string): Promise<boolean> {
    return (await this.world.events(task)).some(({ event }) => isClosed(event));
  }

  private async problemsOf(task: string, workspace: string, requests: number): Promise<string[]> {
    const problems: string[] = [];
    const events = await this.world.events(task);
    const end = events.map(({ event }) => event).find(isClosed);
    if (end?.outcome.outcome !== 'completed') problems.push(`It ended as ${end?.outcome.outcome}.`);
    const counter = join(workspace, 'counter');
    const lines = existsSync(counter) ? readFileSync(counter, 'utf8').split('\n').length - 1 : 0;
    if (lines !== 1) problems.push(`The command ran ${lines} times.`);
    const out = join(workspace, 'out');
    if (!existsSync(out) || readFileSync(out, 'utf8') !== 'one\ntwo\n') problems.push('The file is not as written.');
    const transcript = new Transcript();
    const texts = new Map<string, number>();
    const count = (stream: string, by: number) => texts.set(stream, (texts.get(stream) ?? 0) + by);
    for (const event of events) {
      for (const shown of transcript.apply({ event })) {
        if ('retracted' in shown) for (const { stream } of shown.retracted) count(stream, -1);
        if (!('final' in shown) || shown.final.event.type !== 'say' || shown.final.event.say !== 'text') continue;
        count(callKey(shown.final.event.turn, shown.final.event.block), 1);
      }
    }
    if ([...texts.values()].some((copies) => copies > 1)) problems.push('A text was shown twice.');
    const usage = await this.world.journal.totals(task);
    if (usage.requests < TURNS || usage.requests > requests + 1) {
      problems.push(`${requests} requests have ${usage.requests} rows of usage.`);
    }
    return problems;
  }

  /**
   * @param wasCut the log says that an answer ended early
   * @returns how many answers and results say honestly that they are not those of a run without a kill
   */
  private compare(sent: SentMessage[], wasCut: boolean, problems: string[]): number {
    if (this.expected === undefined) {
      this.expected = sent;
      return 0;
    }
    let honest = 0;
    if (sent.length !== this.expected.length) problems.push(`${sent.length} messages, not ${this.expected.length}.`);
    for (const [at, message] of sent.entries()) {
      const wanted = this.expected[at];
      if (!wanted || message.role !== wanted.role) continue;
      // an answer that broke off after its first call has started ends there
      const isShort = wasCut && message.calls.length > 0 && message.calls.length < wanted.calls.length;
      if (isShort) honest++;
      const calls = isShort ? wanted.calls.slice(0, message.calls.length) : wanted.calls;
      if (message.calls.join('\n') !== calls.join('\n')) problems.push(`Message ${at} has other calls.`);
      for (const [i, result] of message.results.entries()) {
        if (result === wanted.results[i]) continue;
        if (HONEST.test(result)) honest++;
        else problems.push(`Message ${at} has another result: ${result.slice(0, 100)}`);
      }
    }
    return honest;
  }
}

/** The log says that an answer ended where its worker did. */
function isCut(event: TaskEvent): boolean {
  return event.type === 'say' && event.say === 'api_req_finished' && event.stop === 'interrupted';
}

/** A message as the model received it, without ids. */
interface SentMessage {
  role: string;
  texts: string[];
  calls: string[];
  results: string[];
}

interface SentBlock {
  type: string;
  text?: string;
  name?: string;
  input?: unknown;
  content?: { text?: string }[];
}

function sentIn(body: unknown): SentMessage[] {
  const { messages } = body as { messages: { role: string; content: SentBlock[] }[] };
  return messages.map(({ role, content }) => ({
    role,
    texts: content.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : [])),
    calls: content.flatMap((block) => (block.type === 'tool_use' ? [JSON.stringify([block.name, block.input])] : [])),
    results: content.flatMap((block) =>
      block.type === 'tool_result' ? [(block.content ?? []).map((part) => part.text ?? '').join('')] : [],
    ),
  }));
}

function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

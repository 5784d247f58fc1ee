import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Libsql from 'libsql';
import { TaskClient } from '../../src/client.js';
import type { StoredEvent } from '../../src/domain/events.js';
import { call, type FakeModel, finish, type Responder, startFakeModel } from '../../src/fake-model/index.js';
import { homePaths } from '../../src/settings/paths.js';
import { isAsk, isClosed, modelEnv, startWorld, type TestWorker, until, type World } from '../support/world.js';
import { type Body, crashDifferences, withoutIds } from './same-conversation.js';
import { FILES, LEFT, NEVER, POLICY, RESTATED, RESULT, reply, sixTurns, TEXTS } from './six-turns.js';
import { Viewer } from './viewer.js';

/** The longest that a task may take, with a worker's death or silence and all, ms. */
const PATIENCE_MS = 120_000;
/** How long a stopped worker waits at most for another one to take over, ms: longer than its heartbeats may stay out. */
const STOPPED_MS = 20_000;

/** The worker dies; or stops, and goes on when another one has taken over its work, or not before the task has ended. */
export const FAULTS = ['kill', 'stop until taken over', 'stop until the end'] as const;
export type Fault = (typeof FAULTS)[number];

/** Where an attempt at a request or a call begins, claims, commits and ends: it is stopped there, with another one beside it. */
export function isOfAttempt(point: string): boolean {
  return /, (streamModel|runTool)$/.test(point) && !point.includes('partials.db');
}

/** What became of a run that was killed, or was to be. */
export interface PointRun {
  /** The point as the worker named it; undefined when the task has ended without coming to it. */
  where: string | undefined;
  /** Differences to a run without a crash that one may leave. */
  differences: string[];
}

interface Run {
  task: string;
  client: TaskClient;
  model: FakeModel;
  workspace: string;
  live: Viewer;
}

/** Runs the six-turn task again and again on one server and in one home, each time with another death of its worker. */
export class FaultPoints {
  private wanted: Body | undefined;

  private constructor(private readonly world: World) {}

  static async open(): Promise<FaultPoints> {
    return new FaultPoints(await startWorld());
  }

  close(): Promise<void> {
    return this.world.stop();
  }

  /** Runs the task without a crash: what others are compared with. @returns the names of its points */
  async count(): Promise<string[]> {
    const worker = await this.world.worker({ env: { LONGHAUL_FAULT_POINT: '0' } });
    await this.withTask(async (run) => {
      await this.watched(run, () => this.ended(run.task));
      deepStrictEqual(await this.check(run), []);
      this.wanted = lastBody(run);
    });
    await worker.stop();
    return pointsOf(worker);
  }

  /** Kills or stops the worker at its `n`-th point, starts another one, and checks what comes of it. @throws AssertionError */
  async run(n: number, fault: Fault): Promise<PointRun> {
    const { wanted } = this;
    ok(wanted, 'counted before');
    const signal = fault === 'kill' ? 'SIGKILL' : 'SIGSTOP';
    const victim = await this.world.worker({
      env: { LONGHAUL_FAULT_POINT: String(n), LONGHAUL_FAULT_SIGNAL: signal },
    });
    const workers = [victim];
    try {
      return await this.withTask(async (run) => {
        const isKilled = await this.watched(run, async () => {
          const ended = this.ended(run.task);
          const first = await Promise.race([hit(victim), ended.then(() => false)]);
          if (!first) return false;
          const other = await this.world.worker({ env: { LONGHAUL_FAULT_POINT: '0' } });
          workers.push(other);
          if (fault === 'stop until taken over') await takenOver(victim, other, ended);
          await ended;
          return true;
        });
        if (isKilled && fault !== 'kill') await this.goesOn(victim, workers.pop()!);
        const unpaid = await this.check(run);
        const interrupted = answersInterrupted(await this.world.events(run.task));
        ok(interrupted <= (isKilled ? 1 : 0), 'a crash interrupts one answer at most');
        const differences = [
          ...unpaid,
          ...crashDifferences(lastBody(run), wanted, { interrupted, restated: RESTATED }),
        ];
        return { where: isKilled ? pointsOf(victim)[n - 1] : undefined, differences };
      });
    } finally {
      victim.signal('SIGCONT');
      await Promise.all(workers.map((worker) => worker.stop()));
    }
  }

  /** A worker that was stopped while another one did its work has no part in that any more, and does other work. */
  private async goesOn(stopped: TestWorker, other: TestWorker): Promise<void> {
    stopped.signal('SIGCONT');
    await other.stop();
    const next = () => [call('attempt_completion', { result: RESULT }), finish()];
    await this.withTask(({ task }) => this.ended(task), next);
  }

  private async withTask<T>(act: (run: Run) => Promise<T>, responder: Responder = sixTurns): Promise<T> {
    const { home, env } = this.world;
    const model = await startFakeModel({ responder });
    const client = await TaskClient.connect({ home, env: modelEnv(env, model) });
    const workspace = this.world.workspace(FILES);
    try {
      const policy = { ...POLICY, approve: [...POLICY.approve] };
      const { task } = await client.start({ prompt: 'Do it.', policy, workspace });
      try {
        return await act({ task, client, model, workspace, live: new Viewer() });
      } finally {
        // one that has not ended would be work of the next worker
        await this.world.temporal.workflow
          .getHandle(task)
          .terminate()
          .catch(() => undefined);
      }
    } finally {
      await client.close();
      await model.close();
      rmSync(workspace, { recursive: true, force: true });
    }
  }

  /** While `act` runs the task's asks are answered and somebody looks on. */
  private async watched<T>(run: Run, act: () => Promise<T>): Promise<T> {
    const stop = new AbortController();
    const others = Promise.all([this.answer(run, stop.signal), this.look(run, stop.signal)]);
    try {
      const late = sleep(PATIENCE_MS, undefined, { signal: stop.signal }).then(() => {
        throw new Error(`Task ${run.task} has not ended within ${PATIENCE_MS} ms.`);
      });
      const done = await Promise.race([act(), late, others.then(() => late)]);
      const last = (await this.world.events(run.task)).at(-1)?.seq ?? 0;
      for (let tries = 0; run.live.seq < last && tries < 100; tries++) await sleep(20);
      return done;
    } finally {
      stop.abort();
      await others.catch(() => undefined);
    }
  }

  private async look({ task, live }: Run, signal: AbortSignal): Promise<void> {
    for await (const item of this.world.journal.tail(task, 0, signal)) live.take(item);
  }

  /** Says the same until it is heard: while there is no worker an answer may come back. */
  private async answer({ task, client }: Run, signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await sleep(20)) {
      for (const event of openAsks(await this.world.events(task))) {
        const { id } = event.ask;
        await client.answer(task, { ask: id, clientId: `person-${id}`, ...reply(event) }).catch(() => undefined);
      }
    }
  }

  /** The workflow has ended, and not only the log. */
  private async ended(task: string): Promise<void> {
    await this.world.temporal.workflow.getHandle(task).result();
  }

  /** Checks all but the conversation. @returns what a crash may change and has changed, in words */
  private async check(run: Run): Promise<string[]> {
    const { task, model, workspace } = run;
    deepStrictEqual(model.refused(), [], 'no request is refused');
    checkRepeats(run);
    const events = await this.world.events(task);
    await this.checkEnd(events);
    for (const [file, text] of Object.entries(LEFT))
      strictEqual(readFileSync(join(workspace, file), 'utf8'), text, file);
    ok(!existsSync(join(workspace, NEVER)), 'what was denied is not done');
    checkViewers(run, events);
    return this.checkUsage(run);
  }

  private async checkEnd(events: StoredEvent[]): Promise<void> {
    const ends = events.map(({ event }) => event).filter(isClosed);
    strictEqual(ends.length, 1, 'the task has one end');
    const outcome = ends[0]?.outcome;
    strictEqual(outcome?.outcome, 'completed');
    strictEqual(await this.world.journal.getText(outcome.result), RESULT);
    const asks = events.map(({ event }) => event).filter(isAsk);
    strictEqual(asks.length, 3, 'each question is asked once');
    deepStrictEqual(openAsks(events), []);
    const results = events.flatMap(({ event }) =>
      event.type === 'say' && (event.say === 'tool_result' || event.say === 'command_output') ? [event.call] : [],
    );
    strictEqual(new Set(results).size, results.length, 'no call has two results');
  }

  /** Every request that came to the model is paid for. */
  private checkUsage({ task, model }: Run): string[] {
    const rows = this.usageRows(task);
    const unsent = rows.length - model.requests.length;
    if (unsent === 0) return [];
    const estimates = rows.filter(({ estimated }) => estimated === 1).length;
    ok(
      unsent > 0 && unsent <= estimates,
      'what was not sent any more counts as an estimate, and nothing else is one row too much',
    );
    return ['a request that was claimed and not sent any more counts as an estimate'];
  }

  private usageRows(task: string): { estimated: number }[] {
    const raw = new Libsql(homePaths(this.world.home).journal, { readonly: true });
    try {
      return raw.prepare('SELECT estimated FROM usage WHERE task = ?').all(task) as { estimated: number }[];
    } finally {
      raw.close();
    }
  }
}

/** A viewer that looked on all the time and one that comes at the end show each text once. */
function checkViewers({ live }: Run, events: StoredEvent[]): void {
  const late = new Viewer();
  for (const event of events) late.take({ event });
  deepStrictEqual(late.texts, TEXTS);
  deepStrictEqual(live.texts, TEXTS);
}

function openAsks(events: StoredEvent[]) {
  const closed = new Set(events.flatMap(({ event }) => (event.type === 'ask_closed' ? [event.ask] : [])));
  return events
    .map(({ event }) => event)
    .filter(isAsk)
    .filter(({ ask }) => !closed.has(ask.id));
}

/** A request that is made again asks for the same. */
function checkRepeats({ model, workspace }: Run): void {
  for (const [at, { turn, body }] of model.requests.entries()) {
    const again = model.requests[at + 1];
    if (again?.turn === turn) deepStrictEqual(withoutIds(again.body, workspace), withoutIds(body, workspace));
  }
}

/** What was asked last; a worker that was stopped right before it sent its request sends it when it goes on. */
function lastBody({ model, workspace }: Run): Body {
  const last = Math.max(...model.requests.map(({ turn }) => turn));
  return withoutIds(model.requests.find(({ turn }) => turn === last)?.body, workspace);
}

function answersInterrupted(events: StoredEvent[]): number {
  return events.filter(
    ({ event }) => event.type === 'say' && event.say === 'api_req_finished' && event.stop === 'interrupted',
  ).length;
}

/** The points that a worker has named, in order. */
function pointsOf({ log }: TestWorker): string[] {
  return readFileSync(log, 'utf8')
    .split('\n')
    .flatMap((line) => /^fault point \d+: (.*)$/.exec(line)?.[1] ?? []);
}

/** Resolves when the worker is dead, or stopped. */
function hit({ pid }: TestWorker): Promise<true> {
  return until(() => {
    const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ') Z';
    return /\) [TZ]/.test(stat) || undefined;
  }, PATIENCE_MS).then(() => true);
}

/** Lets a stopped worker go on when the other one is at the same activity, so that two attempts at it are alive. */
async function takenOver(stopped: TestWorker, other: TestWorker, ended: Promise<void>): Promise<void> {
  const activity = pointsOf(stopped).at(-1)?.split(', ').at(-1);
  const taken = until(() => pointsOf(other).some((point) => point.endsWith(`, ${activity}`)), STOPPED_MS);
  await Promise.race([taken.catch(() => undefined), ended]);
  stopped.signal('SIGCONT');
}

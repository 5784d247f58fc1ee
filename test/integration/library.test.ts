import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StoredEvent } from '../../src/domain/events.js';
import { call, finish, pace, type Step, say } from '../../src/fake-model/index.js';
import type { LonghaulWorker, WorkerLogEntry, WorkerOptions } from '../../src/index.js';
import { ROOT, startWorld, until, type World } from '../support/world.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGUSR2', 'SIGHUP'] as const;
const listeners = () => SIGNALS.map((signal) => process.listenerCount(signal));
const done = (): Step[] => [call('attempt_completion', { result: 'done' }), finish()];

describe('the library', () => {
  let world: World;
  /** As installed: a worker runs the workflows that were bundled when the package was built. */
  let createWorker: (options: WorkerOptions) => Promise<LonghaulWorker>;
  const workers: LonghaulWorker[] = [];

  beforeAll(async () => {
    world = await startWorld();
    ({ createWorker } = (await import(pathToFileURL(join(ROOT, 'dist', 'index.js')).href)) as never);
  });
  afterAll(async () => {
    for (const worker of workers) await worker.shutdown();
    await world.stop();
  });

  const worker = async (options: WorkerOptions = {}): Promise<LonghaulWorker> => {
    const made = await createWorker({ home: world.home, env: world.env, host: 'library', ...options });
    workers.push(made);
    return made;
  };

  it("works with the program's own Runtime, touches none of its signals, and leaves nothing behind", async () => {
    const runtime = Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
    const before = listeners();
    const one = await worker();
    expect(one).toMatchObject({ address: world.server.address, namespace: 'default', role: 'all', host: 'library' });
    const running = one.run();
    expect(one.run()).toBe(running);
    const model = await world.model({ responder: done });
    const { client, task } = await world.start(model, {});
    expect(await client.result(task)).toMatchObject({ outcome: 'completed', result: 'done', totals: { turns: 1 } });
    expect((await world.journal.liveHosts()).map(({ host }) => host)).toEqual(['library']);
    expect(listeners()).toEqual(before);
    expect(Runtime.instance()).toBe(runtime);
    await one.shutdown();
    await running;
    expect(await world.journal.liveHosts()).toEqual([]);
    expect(listeners()).toEqual(before);
  });

  it('ends a worker by a signal only where it was told to, and one that was never run', async () => {
    const before = listeners();
    const never = await worker();
    await never.shutdown();
    await never.shutdown();
    const entries: WorkerLogEntry[] = [];
    const env = { ...world.env, LONGHAUL_DEBUG: '1' };
    const told = await worker({ env, signals: ['SIGUSR2'], log: (entry) => entries.push(entry) });
    const running = told.run();
    await until(async () => (await world.journal.liveHosts()).length === 1);
    process.kill(process.pid, 'SIGUSR2');
    await running;
    expect(listeners()).toEqual(before);
    expect(await world.journal.liveHosts()).toEqual([]);
    const states = entries.filter(({ message }) => message === 'Worker state changed');
    expect(states.length).toBeGreaterThan(2);
    expect(states[0]).toMatchObject({ level: 'INFO', meta: { state: 'RUNNING' } });
    expect(Math.abs(Date.now() - (states[0]?.at ?? 0))).toBeLessThan(60_000);
  });

  it('says where a worker cannot be', async () => {
    const env = { ...world.env, TEMPORAL_ADDRESS: '127.0.0.1:1' };
    await expect(worker({ env })).rejects.toMatchObject({ slug: 'temporal-unreachable' });
  });

  it('follows a task from anywhere, with what is still arriving, until it has ended', async () => {
    const one = await worker();
    void one.run();
    const model = await world.model({
      responder: ({ turn }) => (turn === 0 ? [pace(20), say('a b c d e f '.repeat(20)), finish()] : done()),
    });
    const { client, task } = await world.start(model, {});
    const all: StoredEvent[] = [];
    let partial = '';
    for await (const item of client.follow(task, { partials: true })) {
      if ('seq' in item) all.push(item);
      else if (item.kind === 'text') partial += item.text;
    }
    expect(partial).toContain('a b c d e f a b c');
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at + 1));
    expect(all.at(-1)?.event.type).toBe('closed');
    const later: number[] = [];
    for await (const { seq } of client.follow(task, { from: 3 })) later.push(seq);
    expect(later).toEqual(all.slice(2).map(({ seq }) => seq));
    for await (const event of client.follow(task, { from: all.length + 9 })) expect(event).toBeUndefined();
    await one.shutdown();
  });

  it('stops to follow and to wait when it is told, or when its client is closed', async () => {
    const one = await worker();
    void one.run();
    const model = await world.model({
      responder: ({ turn }) =>
        turn === 0 ? [call('ask_followup_question', { question: 'Which?', options: ['A', 'B'] }), finish()] : done(),
    });
    const { client, task } = await world.start(model, { policy: { yolo: false, approve: [] } });
    const enough = new AbortController();
    for await (const { event } of client.follow(task, { signal: enough.signal }))
      if (event.type === 'ask') enough.abort();
    const details = await client.get(task);
    expect(details).toMatchObject({ task, status: 'waiting', turns: 1, requests: 1, asks: [{ question: 'Which?' }] });
    expect(details.end).toBeUndefined();
    expect((await client.list({ status: 'waiting', limit: 1 })).map((found) => found.task)).toEqual([task]);
    await expect(client.result(task, { signal: AbortSignal.timeout(50) })).rejects.toThrow(/timeout/i);
    const waiting = client.result(task);
    // as a follower of another program, which has read all there is and asks for more
    const rest = (async () => {
      const seen: string[] = [];
      for await (const { event } of client.follow(task, { from: details.seq + 1 })) seen.push(event.type);
      return seen;
    })();
    const other = await world.client(model);
    const lost = other.result(task);
    await other.close();
    await expect(lost).rejects.toMatchObject({ name: 'AbortError' });
    await client.answer(task, { ask: details.asks[0]?.id ?? '', answer: 'message', text: 'A' });
    expect(await waiting).toMatchObject({ outcome: 'completed' });
    expect((await rest).at(-1)).toBe('closed');
    expect(await client.get(task)).toMatchObject({ status: 'completed', asks: [], end: { outcome: 'completed' } });
    await expect(client.get('nope')).rejects.toMatchObject({ slug: 'task-not-found' });
    await expect(client.result('nope')).rejects.toMatchObject({ slug: 'task-not-found' });
    await one.shutdown();
  });

  // last: the journal is gone after it
  it('rejects at once when the journal is taken away, and can be shut down then', async () => {
    const one = await worker();
    const running = one.run();
    renameSync(join(world.home, 'journal.db'), join(world.home, 'elsewhere.db'));
    await expect(running).rejects.toMatchObject({ slug: 'journal-lost' });
    await one.shutdown();
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, type FakeModel, finish, startFakeModel } from '../../src/fake-model/index.js';
import { readService } from '../../src/service/up.js';
import { handedOver, historiesOf, payloadSizes } from '../support/histories.js';
import { ROOT, runCli } from '../support/world.js';

const CALLS = 400;
/** Ceilings of what a task may put into Temporal's history, bytes. */
const MAX_PAYLOAD = 4_096;
const MAX_HANDED_OVER = 8_192;
const MAX_EVENTS_A_TURN = 25;
/** A run is handed over from 1,500 events on, at the next step. */
const MAX_EVENTS = 1_600;

describe('a long task on the embedded service', () => {
  let model: FakeModel;
  let home: string;
  let workspace: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
    // Counts requests itself: the conversation outgrows the window, so its messages do not tell the turn.
    let requests = 0;
    model = await startFakeModel({
      responder: () => {
        const i = requests++;
        const next =
          i < CALLS ? call('read_file', { path: `f${i % 7}.txt` }) : call('attempt_completion', { result: 'read' });
        return [next, finish()];
      },
    });
    home = mkdtempSync(join(tmpdir(), 'longhaul-home-'));
    workspace = mkdtempSync(join(tmpdir(), 'longhaul-ws-'));
    const kept = Object.entries(process.env).filter(([name]) => !/^(ANTHROPIC_|TEMPORAL_|LONGHAUL_HOME)/.test(name));
    env = {
      ...Object.fromEntries(kept),
      LONGHAUL_HOME: home,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'test-key',
    };
  });
  afterAll(async () => {
    await runCli(['down'], env);
    await model.close();
    for (const folder of [home, workspace]) rmSync(folder, { recursive: true, force: true });
  });

  it('makes 400 tool calls within the ceilings, and no request is refused', async () => {
    for (let i = 0; i < 7; i++) writeFileSync(join(workspace, `f${i}.txt`), 'x'.repeat(5_000));
    const result = await runCli(['run', '--yolo', '--json', '--workspace', workspace, 'Read the files.'], env);
    expect(result.err).not.toMatch(/error:/);
    expect(result.code).toBe(0);
    expect(model.refused()).toEqual([]);
    expect(model.requests).toHaveLength(CALLS + 1);
    const outcomes = result.lines.filter(({ type }) => type === 'outcome');
    expect(outcomes).toHaveLength(1);
    expect(outcomes[0]).toMatchObject({ outcome: 'completed', turns: CALLS + 1 });
    const { usage, cost } = outcomes[0] as { usage: { outputTokens: number }; cost: number };
    expect(usage.outputTokens).toBeGreaterThan(CALLS);
    expect(cost).toBeGreaterThan(0);
    await checkHistories(String(result.lines[0]?.task));
  }, 300_000);

  /** Every run of the chain is small, whatever the length of the task, and replays. */
  async function checkHistories(task: string): Promise<void> {
    const service = await readService(home);
    const connection = await Connection.connect({ address: service!.address });
    const client = new Client({ connection, namespace: service!.namespace });
    const sizes = { events: 0, runs: 0, payload: 0, handedOver: 0 };
    for (const run of await historiesOf(client, task)) {
      await Worker.runReplayHistory(
        { workflowBundle: { codePath: join(ROOT, 'dist', 'workflow-bundle.js') } },
        run.history,
        task,
      );
      expect(run.events.length).toBeLessThanOrEqual(MAX_EVENTS);
      sizes.runs++;
      sizes.events += run.events.length;
      sizes.payload = Math.max(sizes.payload, ...run.events.flatMap(payloadSizes));
      sizes.handedOver = Math.max(sizes.handedOver, handedOver(run));
    }
    await connection.close();
    expect(sizes.runs).toBeGreaterThan(1);
    expect(sizes.payload).toBeLessThanOrEqual(MAX_PAYLOAD);
    expect(sizes.handedOver).toBeLessThanOrEqual(MAX_HANDED_OVER);
    expect(sizes.events / (CALLS + 1)).toBeLessThanOrEqual(MAX_EVENTS_A_TURN);
  }
});

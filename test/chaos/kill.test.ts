import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, type FakeModel, finish, pace, type Responder, say, startFakeModel } from '../../src/fake-model/index.js';
import type { Journal } from '../../src/journal/journal.js';
import { openJournal } from '../../src/journal/open.js';
import { readService } from '../../src/service/up.js';
import { seeded } from '../support/random.js';
import { type CliResult, markedProcesses, runCli, until } from '../support/world.js';

const KILLS = 20;
const SEED = 20_260_101;
const TASKS = 3;
const VICTIMS = ['worker', 'server', 'both'] as const;

/** Edits a file and runs a command in turns, without end until `stop`; each leaves one line. */
const working =
  (isOver: () => boolean): Responder =>
  ({ turn }) => {
    if (isOver()) return [call('attempt_completion', { result: `turns: ${turn}` }), finish()];
    const work =
      turn % 2 === 0
        ? call('execute_command', { command: `echo ${turn} >> counter; sleep 0.3`, requires_approval: false })
        : call('replace_in_file', {
            path: 'notes.txt',
            diff: `------- SEARCH\nend\n=======\n${turn}\nend\n+++++++ REPLACE`,
          });
    return [pace(5), say(`This is turn ${turn} of the task.`), work, finish()];
  };

describe('kill -9 at seeded moments', () => {
  let model: FakeModel;
  let over = false;
  const home = mkdtempSync(join(tmpdir(), 'longhaul-home-'));
  const workspaces = Array.from({ length: TASKS }, () => mkdtempSync(join(tmpdir(), 'longhaul-ws-')));
  let env: NodeJS.ProcessEnv;
  let journal: Journal;

  beforeAll(async () => {
    model = await startFakeModel({ responder: working(() => over) });
    const kept = Object.entries(process.env).filter(([name]) => !/^(ANTHROPIC_|TEMPORAL_|LONGHAUL_HOME)/.test(name));
    env = {
      ...Object.fromEntries(kept),
      LONGHAUL_HOME: home,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'test-key',
    };
    for (const workspace of workspaces) writeFileSync(join(workspace, 'notes.txt'), 'start\nend\n');
    expect((await runCli(['up'], env)).code).toBe(0);
    journal = await openJournal({ home });
  });
  afterAll(async () => {
    await runCli(['down'], env);
    await journal.close();
    await model.close();
    for (const folder of [home, ...workspaces]) rmSync(folder, { recursive: true, force: true });
  });

  it(`goes on by itself ${KILLS} times, loses no turn, repeats no edit and no command`, async () => {
    const runs = workspaces.map((workspace) =>
      runCli(['run', '--yolo', '--json', '--workspace', workspace, 'Work.'], env),
    );
    const random = seeded(SEED);
    for (let kill = 0; kill < KILLS; kill++) {
      await progress();
      await new Promise((done) => setTimeout(done, random() * 2_000));
      const victim = VICTIMS[Math.floor(random() * VICTIMS.length)]!;
      const service = await until(() => readService(home));
      if (victim !== 'server' && service.workerPid) endNow(service.workerPid);
      if (victim !== 'worker' && service.temporalPid) endNow(service.temporalPid);
    }
    await progress();
    over = true;
    const results = await Promise.all(runs);
    for (const [at, result] of results.entries()) await checkTask(result, workspaces[at]!);
    expect(model.refused()).toEqual([]);
  }, 900_000);

  /** Every task has come at least one turn further since this was called. */
  async function progress(): Promise<void> {
    const before = await until(async () => {
      const tasks = await journal.listTasks();
      return tasks.length === TASKS && Promise.all(tasks.map(({ task }) => lastTurn(task)));
    });
    const ids = (await journal.listTasks()).map(({ task }) => task);
    await until(async () => {
      const now = await Promise.all(ids.map(lastTurn));
      return now.every((turn, at) => turn > before[at]!);
    }, 90_000);
  }

  /** Number of requests begun. */
  async function lastTurn(task: string): Promise<number> {
    return (await journal.totals(task)).requests;
  }

  async function checkTask(result: CliResult, workspace: string): Promise<void> {
    expect(result.code, result.err).toBe(0);
    const outcomes = result.lines.filter(({ type }) => type === 'outcome');
    expect(outcomes).toMatchObject([{ outcome: 'completed' }]);
    const turns = Number(/turns: (\d+)/.exec(String(outcomes[0]?.result))?.[1]);
    expect(turns).toBeGreaterThan(KILLS);
    const even = Array.from({ length: turns }, (_, turn) => turn).filter((turn) => turn % 2 === 0);
    const odd = Array.from({ length: turns }, (_, turn) => turn).filter((turn) => turn % 2 === 1);
    expect(lines(workspace, 'counter')).toEqual(even.map(String));
    expect(lines(workspace, 'notes.txt')).toEqual(['start', ...odd.map(String), 'end']);
    expect(markedProcesses(`LONGHAUL_TASK=${String(result.lines[0]?.task)}`)).toEqual([]);
  }
});

function lines(workspace: string, file: string): string[] {
  return readFileSync(join(workspace, file), 'utf8').trimEnd().split('\n');
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended since, by an earlier kill.
  }
}

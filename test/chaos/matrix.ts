import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TaskClient } from '../../src/client.js';
import { isOpen } from '../../src/domain/outcomes.js';
import { type FakeModel, startFakeModel } from '../../src/fake-model/index.js';
import { LogState } from '../../src/journal/log-state.js';
import { seeded } from '../support/random.js';
import { cleanEnv, markedProcesses, modelEnv, runCli, until } from '../support/world.js';
import { CLASSES, type Effect, type EffectClass, FATES, type Fate, FILES, judge, work } from './effects.js';
import { ENDS_RUNNERS, FAULTS, type FaultKind, type Place, possible, settableClock, strike } from './faults.js';

/** The longest that all tasks may take to come a turn further after a fault, ms. */
const PATIENCE_MS = 120_000;
/** Size of a home that can be filled. */
const DISK = '400m';

export interface MatrixOptions {
  seed: number;
  faults: number;
  tasks: number;
  kinds?: readonly FaultKind[];
  log?: (line: string) => void;
}

interface Struck {
  fault: FaultKind;
  from: number;
  to: number;
}

/** How often a fault met an effect in the making, and what became of it. */
export type Matrix = Map<FaultKind, Map<EffectClass, Map<Fate, number>>>;

export interface MatrixResult {
  matrix: Matrix;
  /** Task × fault. */
  exposures: number;
  effects: number;
  /** Everything that must not be; empty when all is well. */
  problems: string[];
}

/**
 * Tasks that work on a service of their own, with every effect class, while faults strike at seeded moments. Each fault
 * waits until every task has come a turn further since the one before.
 */
export async function runMatrix(options: MatrixOptions): Promise<MatrixResult> {
  const run = new MatrixRun(options);
  try {
    await run.start();
    await run.strikeAll();
    return await run.finish();
  } finally {
    await run.stop();
  }
}

class MatrixRun {
  private over = false;
  private readonly model: Promise<FakeModel> = startFakeModel({ responder: work(() => this.over) });
  private readonly home = mkdtempSync(join(tmpdir(), 'longhaul-home-'));
  private readonly workspaces: string[];
  private readonly random: () => number;
  private readonly struck: Struck[] = [];
  /** Of each workspace, tasks that have worked in it. */
  private readonly tasks: string[][];
  private readonly stopping = new AbortController();
  private place!: Place;
  private client!: TaskClient;
  private people: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: MatrixOptions) {
    this.random = seeded(options.seed);
    this.workspaces = Array.from({ length: options.tasks }, () => mkdtempSync(join(tmpdir(), 'longhaul-ws-')));
    this.tasks = this.workspaces.map(() => []);
  }

  async start(): Promise<void> {
    const ownDisk = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK}`, 'tmpfs', this.home]).status === 0;
    const env = { ...modelEnv(cleanEnv(), await this.model), LONGHAUL_HOME: this.home };
    const clock = join(tmpdir(), `${basename(this.home)}.clock`);
    const settable = settableClock(clock);
    this.place = { home: this.home, env: { ...env, ...settable }, ownDisk, ...(settable && { clock }) };
    const left = FAULTS.filter((fault) => !possible(this.place).includes(fault));
    if (left.length > 0) this.options.log?.(`Not possible on this machine: ${left.join(', ')}.`);
    for (const folder of this.workspaces) {
      for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
    }
    const started = await runCli(['up'], this.place.env);
    if (started.code !== 0) throw new Error(started.err);
    this.client = await TaskClient.connect({ home: this.home, env: this.place.env });
    this.people = Promise.all(this.workspaces.map((_, slot) => this.attend(slot)));
  }

  async strikeAll(): Promise<void> {
    const kinds = possible(this.place).filter((kind) => this.options.kinds?.includes(kind) ?? true);
    for (let n = 0; n < this.options.faults; n++) {
      // each kind equally often, in an order of its own in each round
      const round = kinds[(n + Math.floor(n / kinds.length)) % kinds.length]!;
      await this.progress();
      await sleep(this.random() * 2_000);
      this.struck.push({ fault: round, ...(await strike(round, this.place)) });
      this.options.log?.(`fault ${n + 1} of ${this.options.faults}: ${round}`);
    }
    await this.progress();
  }

  async finish(): Promise<MatrixResult> {
    this.over = true;
    await this.people;
    const problems: string[] = [];
    const effects: Effect[] = [];
    for (const [slot, tasks] of this.tasks.entries()) {
      for (const task of tasks) {
        effects.push(...(await judge(this.client.journal, task, this.workspaces[slot]!)));
        const left = markedProcesses(`LONGHAUL_TASK=${task}`);
        if (left.length > 0) problems.push(`Task ${task} has left processes: ${left.join(', ')}.`);
      }
    }
    const refused = (await this.model).refused();
    if (refused.length > 0)
      problems.push(`The model refused ${refused.length} requests: ${JSON.stringify(refused[0])}`);
    problems.push(...effects.filter((one) => !isAllowed(one, this.struck)).map((one) => `${one.fate}: ${one.details}`));
    const exposures = this.struck.length * this.workspaces.length;
    return { matrix: matrixOf(effects, this.struck), exposures, effects: effects.length, problems };
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.people.catch(() => undefined);
    await this.client?.close();
    if (this.place) await runCli(['down'], this.place.env);
    await (await this.model).close();
    if (this.place?.ownDisk) spawnSync('umount', ['-l', this.home]);
    const clocks = this.place?.clock === undefined ? [] : [this.place.clock];
    for (const path of [this.home, ...this.workspaces, ...clocks]) rmSync(path, { recursive: true, force: true });
  }

  /** Every workspace has come at least one request further since this was called. */
  private async progress(): Promise<void> {
    const counts = () => Promise.all(this.tasks.map((tasks) => this.requestsOf(tasks)));
    const before = await counts();
    await until(async () => (await counts()).every((now, slot) => now > before[slot]!), PATIENCE_MS);
  }

  private async requestsOf(tasks: readonly string[]): Promise<number> {
    // the disk may be full, or the file locked, for a moment
    const totals = tasks.map((task) => this.client.journal.totals(task).catch(() => ({ requests: 0 })));
    return (await Promise.all(totals)).reduce((sum, { requests }) => sum + requests, 0);
  }

  /** Starts one task after the other in a workspace, and answers what they ask. */
  private async attend(slot: number): Promise<void> {
    for (let n = 0; !this.over && !this.stopping.signal.aborted; n++) {
      const task = await this.begin(slot, n);
      if (task === undefined) return;
      this.tasks[slot]!.push(task);
      const log = new LogState();
      for (; !this.stopping.signal.aborted; await sleep(100)) {
        // the disk may be full, or the server away, for a moment
        if (await this.answerOpen(task, log).catch(() => false)) break;
      }
    }
  }

  private async begin(slot: number, n: number): Promise<string | undefined> {
    const policy = { yolo: false, approve: ['read' as const, 'edit' as const, 'all' as const] };
    const request = { prompt: `Work ${slot}-${n}.`, workspace: this.workspaces[slot]!, policy };
    for (; !this.stopping.signal.aborted; await sleep(500)) {
      const started = await this.client.start(request).catch(() => undefined);
      if (started) return started.task;
      // it may have been stored all the same
      const open = (await this.client.journal.listTasks().catch(() => [])).find(
        (row) => isOpen(row.status) && row.workspace === this.workspaces[slot],
      );
      if (open) return open.task;
    }
    return undefined;
  }

  /** @returns whether the task has closed */
  private async answerOpen(task: string, log: LogState): Promise<boolean> {
    for (const stored of await this.client.journal.readEvents(task, log.seq, 1000)) log.apply(stored);
    for (const { ask } of log.open.values()) {
      await this.client.answer(task, { ask: ask.id, clientId: ask.id, answer: 'message', text: 'Yes.' });
    }
    return log.closed !== undefined;
  }
}

/** Faults that struck while it was being made, or right before: what was on its way then is made again. */
function metBy({ begun, ended }: Effect, struck: readonly Struck[]): Struck[] {
  return struck.filter(({ from, to }) => begun <= to && from <= ended);
}

function isAllowed(effect: Effect, struck: readonly Struck[]): boolean {
  switch (effect.fate) {
    case 'correct':
      return true;
    case 'lost':
    case 'repeated':
      return false;
    case 'unknown and said': {
      const met = metBy(effect, struck);
      // an answer that was cut by a fault; a command whose runner died
      return effect.class === 'model' ? met.length > 0 : met.some(({ fault }) => ENDS_RUNNERS.includes(fault));
    }
  }
}

function matrixOf(effects: readonly Effect[], struck: readonly Struck[]): Matrix {
  const matrix: Matrix = new Map();
  for (const effect of effects) {
    for (const { fault } of metBy(effect, struck)) {
      const row = matrix.get(fault) ?? new Map<EffectClass, Map<Fate, number>>();
      const cell = row.get(effect.class) ?? new Map<Fate, number>();
      cell.set(effect.fate, (cell.get(effect.fate) ?? 0) + 1);
      matrix.set(fault, row.set(effect.class, cell));
    }
  }
  return matrix;
}

/** The matrix as a table for people: of each cell the fates in the order of {@link FATES}. */
export function matrixTable({ matrix, exposures, effects }: MatrixResult): string {
  const cell = (fault: FaultKind, effect: EffectClass) =>
    FATES.map((fate) => matrix.get(fault)?.get(effect)?.get(fate) ?? 0).join(' / ');
  const rows = FAULTS.map((fault) => `| ${fault} | ${CLASSES.map((one) => cell(fault, one)).join(' | ')} |`);
  return [
    `${exposures} exposures (task × fault), ${effects} effects in all. Each cell: ${FATES.join(' / ')}, of effects that the fault met.`,
    '',
    `| | ${CLASSES.join(' | ')} |`,
    `|---${'|---'.repeat(CLASSES.length)}|`,
    ...rows,
  ].join('\n');
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { AnswerCall, PreparedCall, RanCall } from '../domain/calls.js';
import { editsNothing } from '../domain/modes.js';
import { isApproved } from '../domain/policy.js';
import type { StreamInput } from '../domain/turn.js';
import type { NewResult, TurnRow } from '../journal/rows.js';
import { findTool } from '../tools/registry.js';
import { ranCall } from './call-facts.js';
import type { ActivityDeps } from './context.js';
import { begun, runEarly, storedRun, summaryOf } from './run-tool.js';
import type { Stop } from './stop.js';

/** Calls that run side by side. */
const PARALLEL = 8;
/** Of those that have run, as many are told with one signal: some 75 bytes each, and loops are no longer than that. */
const MAX_NEWS = 30;
/** ms that the end of an answer waits for a result, to store both at once. */
const JOIN_MS = 30;
/** ms after which the log says that a call has begun; a quicker one is said to have begun with its result. */
const SAY_BEGUN_MS = 100;

/**
 * Runs the calls at the beginning of an answer that only read and need no approval, right where the answer arrives: a
 * turn that only reads costs no activity but the stream's. The first call of another kind ends that: it, and what
 * follows it, are the workflow's to run. What cannot be run here, the workflow runs as well.
 */
export class EarlyCalls {
  private readonly lanes: Promise<void>[] = [];
  /** By block number: ends when the call's tool has. */
  private readonly computing = new Map<number, Promise<void>>();
  private readonly computed = new Map<number, NewResult>();
  private readonly storing = new Map<number, Promise<void>>();
  private readonly ran = new Map<number, RanCall>();
  private news: RanCall[] = [];
  private over = false;

  constructor(
    private readonly input: StreamInput,
    private readonly deps: ActivityDeps,
    private readonly stop: Stop,
  ) {}

  /**
   * Takes the next call of an answer that counts: runs it when it is one of these, and stores its result.
   * @returns false when it is not
   */
  take(call: PreparedCall, args: Record<string, unknown>): boolean {
    if (!this.begin(call, args)) return false;
    const { block } = call;
    if (this.computing.has(block) && !this.storing.has(block)) this.storing.set(block, this.store(call));
    return true;
  }

  /**
   * Takes the last call of an answer that is just ending: begins it when it is one of these.
   * @returns its result if it is there soon: the caller stores it, with the end of the answer; else `finish` does
   */
  async takeLast(call: PreparedCall, args: Record<string, unknown>): Promise<NewResult[]> {
    if (!this.begin(call, args)) return [];
    await within(JOIN_MS, this.computing.get(call.block));
    const result = this.computed.get(call.block);
    if (!result) return [];
    this.storing.set(call.block, Promise.resolve());
    this.note(call, result);
    return [result];
  }

  /** Waits for what was taken. @returns whether all of it has run */
  async settle(): Promise<boolean> {
    await Promise.all(this.storing.values());
    return [...this.computing.keys()].every((block) => this.ran.has(block));
  }

  /**
   * What has run and was not told before, in the answer's order; of very many the last, which tell the mistakes in a
   * row. Of their todo lists only the last one counts.
   */
  tell(): RanCall[] {
    const news = this.news.sort((a, b) => a.block - b.block).slice(-MAX_NEWS);
    const lists = this.news.filter(({ todo }) => todo);
    this.news = [];
    return news.map(({ todo: _, ...ran }, at) => {
      const todo = at === news.length - 1 ? lists.at(-1)?.todo : undefined;
      return { ...ran, ...(todo && { todo }) };
    });
  }

  /** For an answer that an earlier execution has closed: what that one has run is not run again. */
  async recall({ calls }: TurnRow): Promise<void> {
    for (const call of calls) {
      const ran = await storedRun(call.call, this.deps.journal);
      if (ran === undefined) continue;
      this.computing.set(call.block, Promise.resolve());
      this.storing.set(call.block, Promise.resolve());
      this.ran.set(call.block, ranCall(call, ran));
    }
  }

  /** Runs what is left of them once the answer is closed. @returns the answer's calls, those that have run as such */
  async finish({ blocks, calls }: TurnRow): Promise<AnswerCall[]> {
    for (const call of calls) {
      const block = blocks.find((one) => one.type === 'tool_use' && one.block === call.block);
      if (block?.type !== 'tool_use' || !this.take(call, block.input)) break;
    }
    await this.settle();
    return calls.map((call) => this.ran.get(call.block) ?? call);
  }

  /** @returns false for a call that is the workflow's to run */
  private begin(call: PreparedCall, args: Record<string, unknown>): boolean {
    if (call.problem !== undefined || this.computing.has(call.block)) return true;
    this.over ||= !(findTool(call.tool)?.early && isApproved(call.approval, this.input.settings.policy));
    if (this.over) return false;
    const lane = this.computing.size % PARALLEL;
    const run = (this.lanes[lane] ?? Promise.resolve()).then(() => this.compute(call, args));
    this.lanes[lane] = run;
    this.computing.set(call.block, run);
    return true;
  }

  private async compute(call: PreparedCall, args: Record<string, unknown>): Promise<void> {
    if (this.stop.signal.aborted) return;
    const { task, journal, workspace, epoch, turn, settings } = this.input;
    const { policy } = settings;
    const noEdits = editsNothing(settings.mode, settings);
    const input = { task, journal, workspace, epoch, turn, call: call.call, tool: call.tool, policy, noEdits };
    try {
      this.computed.set(call.block, await runEarly(call, args, input, this.deps, this.stop));
    } catch {
      // whatever it was: the activity that the workflow starts for the call meets it again, and says so
    }
  }

  private async store(call: PreparedCall): Promise<void> {
    const { journal } = this.deps;
    const { task, turn } = this.input;
    const computing = this.computing.get(call.block);
    try {
      const quick = await within(SAY_BEGUN_MS, computing);
      if (!quick) await journal.append(task, [begun({ turn, ...call }, call.summary)]);
      await computing;
      const result = this.computed.get(call.block);
      if (!result) return;
      const row = await journal.putResult(result.row, result.events);
      this.note(call, { ...result, row });
    } catch {
      // as in `compute`
    }
  }

  private note(call: PreparedCall, { row }: NewResult): void {
    const ran = ranCall(call, summaryOf(row));
    this.ran.set(call.block, ran);
    this.news.push(ran);
  }
}

/** @returns whether `work` has ended within `ms` */
async function within(ms: number, work: Promise<void> | undefined): Promise<boolean> {
  const stop = new AbortController();
  const late = sleep(ms, false, { signal: stop.signal }).catch(() => false);
  const ended = await Promise.race([work?.then(() => true) ?? true, late]);
  stop.abort();
  return ended;
}

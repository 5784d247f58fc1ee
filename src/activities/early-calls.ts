import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { AnswerCall, PreparedCall, RanCall } from '../domain/calls.js';
import { isApproved } from '../domain/policy.js';
import type { StreamInput } from '../domain/turn.js';
import type { NewResult, TurnRow } from '../journal/journal.js';
import { findTool } from '../tools/registry.js';
import type { ActivityDeps } from './context.js';
import { runEarly, storedRun, summaryOf } from './run-tool.js';

/** Calls that run side by side. */
const PARALLEL = 8;
/** Of those that have run, as many are told with one signal: some 50 bytes each. */
const MAX_NEWS = 40;
/** ms that the end of an answer waits for a result, to store both at once. */
const JOIN_MS = 30;

/**
 * Runs the calls at the beginning of an answer that only read and need no approval, right where the answer arrives: a
 * turn that only reads costs no activity but the stream's. The first call of another kind ends that: it, and what
 * follows it, are the workflow's to run. What cannot be run here, the workflow runs as well.
 */
export class EarlyCalls {
  /** Per call: ends when its tool has, and when its result is stored. */
  private readonly computing = new Map<number, Promise<void>>();
  private readonly storing: Promise<void>[] = [];
  private readonly lanes: Promise<void>[] = [];
  private readonly unstored = new Map<number, NewResult>();
  private readonly ran = new Map<number, RanCall>();
  private news: RanCall[] = [];
  private over = false;

  constructor(
    private readonly input: StreamInput,
    private readonly deps: ActivityDeps,
  ) {}

  /**
   * Takes the answer's next call: starts it when it is one of these.
   * @param counts settles when it is known whether the answer counts; before, nothing of the call is stored or shown
   * @returns false when it is not
   */
  take(call: PreparedCall, args: Record<string, unknown>, counts: Promise<boolean> = Promise.resolve(true)): boolean {
    if (call.problem !== undefined || this.computing.has(call.block)) return true;
    this.over ||= !(findTool(call.tool)?.early && isApproved(call.approval, this.input.settings.policy));
    if (this.over) return false;
    const lane = this.computing.size % PARALLEL;
    const computed = (this.lanes[lane] ?? Promise.resolve()).then(() => this.compute(call, args, counts));
    this.lanes[lane] = computed;
    this.computing.set(call.block, computed);
    this.storing.push(computed.then(() => this.store(call.block, counts)));
    return true;
  }

  /** The result of a call, if it is there soon: the caller stores it. */
  async resultSoon(block: number): Promise<NewResult[]> {
    const stop = new AbortController();
    const late = sleep(JOIN_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    await Promise.race([this.computing.get(block), late]);
    stop.abort();
    const result = this.unstored.get(block);
    if (!result) return [];
    this.unstored.delete(block);
    this.note(block, result);
    return [result];
  }

  /** Waits for what was started. */
  async settle(): Promise<void> {
    await Promise.all(this.storing);
  }

  /** What has run and was not told before, in the answer's order. */
  tell(): RanCall[] {
    const news = this.news.sort((a, b) => a.block - b.block).slice(0, MAX_NEWS);
    this.news = [];
    return news;
  }

  /** For an answer that an earlier execution has closed: what that one has run is not run again. */
  async recall({ calls }: TurnRow): Promise<void> {
    for (const { call, block } of calls) {
      const ran = await storedRun(call, this.deps.journal);
      if (ran === undefined) continue;
      this.computing.set(block, Promise.resolve());
      this.ran.set(block, { block, ran });
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

  private async compute(call: PreparedCall, args: Record<string, unknown>, counts: Promise<boolean>): Promise<void> {
    if (Context.current().cancellationSignal.aborted) return;
    const { task, journal, workspace, epoch, turn, settings } = this.input;
    const input = { task, journal, workspace, epoch, turn, call: call.call, tool: call.tool, policy: settings.policy };
    try {
      this.unstored.set(call.block, await runEarly(call, args, input, this.deps, counts));
    } catch {
      // whatever it was: the activity that the workflow starts for the call meets it again, and says so
    }
  }

  private async store(block: number, counts: Promise<boolean>): Promise<void> {
    const result = (await counts) ? this.unstored.get(block) : undefined;
    if (!result) return;
    this.unstored.delete(block);
    try {
      const row = await this.deps.journal.putResult(result.row, result.events);
      this.note(block, { ...result, row });
    } catch {
      // as in `compute`
    }
  }

  private note(block: number, { row }: NewResult): void {
    const ran = { block, ran: summaryOf(row) };
    this.ran.set(block, ran);
    this.news.push(ran);
  }
}

import { Context } from '@temporalio/activity';
import type { AnswerCall, PreparedCall, RanCall } from '../domain/calls.js';
import { isApproved } from '../domain/policy.js';
import type { StreamInput } from '../domain/turn.js';
import type { TurnRow } from '../journal/journal.js';
import { findTool } from '../tools/registry.js';
import type { ActivityDeps } from './context.js';
import { runEarly, storedRun } from './run-tool.js';

/** Calls that run side by side. */
const PARALLEL = 8;
/** Of those that have run, as many are told with one signal: some 50 bytes each. */
const MAX_NEWS = 40;

/**
 * Runs the calls at the beginning of an answer that only read and need no approval, right where the answer arrives: a
 * turn that only reads costs no activity but the stream's. The first call of another kind ends that: it, and what
 * follows it, are the workflow's to run. What cannot be run here, the workflow runs as well.
 */
export class EarlyCalls {
  private readonly lanes: Promise<void>[] = [];
  private readonly taken = new Set<number>();
  private readonly ran = new Map<number, RanCall>();
  private news: RanCall[] = [];
  private over = false;

  constructor(
    private readonly input: StreamInput,
    private readonly deps: ActivityDeps,
  ) {}

  /** Takes the answer's next call: starts it when it is one of these. @returns false when it is not */
  take(call: PreparedCall, args: Record<string, unknown>): boolean {
    if (call.problem !== undefined || this.taken.has(call.block)) return true;
    this.over ||= !(findTool(call.tool)?.early && isApproved(call.approval, this.input.settings.policy));
    if (this.over) return false;
    const lane = this.taken.size % PARALLEL;
    this.taken.add(call.block);
    this.lanes[lane] = (this.lanes[lane] ?? Promise.resolve()).then(() => this.run(call, args));
    return true;
  }

  /** Waits for what was started. */
  async settle(): Promise<void> {
    await Promise.all(this.lanes);
  }

  /** What has run and was not told before, in the answer's order. */
  tell(): RanCall[] {
    const news = this.news.sort((a, b) => a.block - b.block).slice(0, MAX_NEWS);
    this.news = [];
    return news;
  }

  /** For an answer that an earlier execution has closed: what that one has run is not run again. */
  async recall({ calls }: TurnRow): Promise<void> {
    for (const call of calls) {
      const run = await storedRun(call.call, this.deps.journal);
      if (run === undefined) continue;
      this.taken.add(call.block);
      this.ran.set(call.block, { block: call.block, ran: run });
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

  private async run(call: PreparedCall, args: Record<string, unknown>): Promise<void> {
    if (Context.current().cancellationSignal.aborted) return;
    const { task, journal, workspace, epoch, turn, settings } = this.input;
    const input = { task, journal, workspace, epoch, turn, call: call.call, tool: call.tool, policy: settings.policy };
    try {
      const ran = { block: call.block, ran: await runEarly(call, args, input, this.deps) };
      this.ran.set(call.block, ran);
      this.news.push(ran);
    } catch {
      // whatever it was: the activity that the workflow starts for the call meets it again, and says so
    }
  }
}

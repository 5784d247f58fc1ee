import type { AnswerCall, PreparedCall, ToolRun } from '../domain/calls.js';
import type { TurnKey } from '../domain/ids.js';
import { judgeLoop, rememberCall } from '../domain/loops.js';
import { editsNothing, type Mode } from '../domain/modes.js';
import type { Outcome } from '../domain/outcomes.js';
import { isApproved, isJudged } from '../domain/policy.js';
import type { TurnInProgress } from '../domain/task.js';
import { askForApproval } from './asks/approval.js';
import { throwIfCancelled } from './cancel.js';
import { runControl } from './control.js';
import { whilePaused } from './pause.js';
import { showStatus } from './show.js';
import type { Task } from './state.js';

/** Read-only calls that run side by side. */
const PARALLEL = 8;

/**
 * Answers the calls of one turn in the model's order. A call that changes something is a barrier: what was started before
 * it has ended, and it ends before what follows. Read-only calls run side by side between two barriers. Each call gets
 * exactly one result: stored by its activity, or a verdict in `progress`.
 */
export class CallRunner {
  /** Set by a control tool: the task is over when the turn is. */
  outcome: Outcome | undefined;
  /** A call was cut by the output limit. */
  truncated = false;
  /** Set for an answer without any content: the provider's id of the request, or blank. */
  emptyAnswer: string | undefined;
  private readonly running = new Set<Promise<void>>();
  private failure: unknown;
  private changed = false;

  constructor(
    private readonly task: Task,
    readonly progress: TurnInProgress,
  ) {}

  /** The turn's request goes out under this key. */
  begin(turn: TurnKey, mode: Mode): void {
    Object.assign(this.progress, { turn, mode, nextBlock: 0 });
  }

  /** A person refused a call, or the task is complete: what follows is skipped. */
  get stopped(): boolean {
    return this.progress.rejected || this.outcome !== undefined;
  }

  private get noEdits(): boolean {
    return editsNothing(this.progress.mode, this.task.settings);
  }

  async accept(call: AnswerCall): Promise<void> {
    throwIfCancelled();
    if (call.block < this.progress.nextBlock) return;
    this.notice(call);
    if ('ran' in call) {
      this.count(call.ran);
    } else if (call.problem !== undefined) {
      const byBudget = call.problem === 'truncated' && this.progress.clamped;
      if (!byBudget) this.task.carried.mistakes++;
      if (call.problem === 'truncated' && !byBudget) this.truncated = true;
    } else if (!this.stopped) {
      const free = call.effect === 'pure' && isApproved(call.approval, this.task.settings.policy);
      if (!free || this.running.size >= PARALLEL) await this.settle();
      await whilePaused(this.task);
      if (free) this.start(call);
      else await this.runBarrier(call);
    }
    this.progress.nextBlock = call.block + 1;
  }

  /** Waits for everything that was started. */
  async settle(): Promise<void> {
    await Promise.all(this.running);
    if (this.failure !== undefined) throw this.failure;
    throwIfCancelled();
  }

  /** The same for the way out: whatever it ends with. */
  async drain(): Promise<void> {
    await Promise.all(this.running);
  }

  /** What a call tells besides what it does: that it repeats others, and the todo list. */
  private notice(call: AnswerCall): void {
    const { sig, todo } = call;
    const isActRespond = 'control' in call && call.control?.do === 'act_respond';
    const { carried } = this.task;
    if (!isActRespond) delete carried.lastActRespond;
    if (todo) {
      carried.todo = todo;
      carried.requestsSinceTodo = 0;
    }
    if (sig === undefined) return;
    carried.recentCalls = rememberCall(carried.recentCalls, sig);
    const verdict = judgeLoop(carried.recentCalls);
    if (verdict === 'escalate') carried.looping = true;
    if (verdict === 'warn' && !carried.notices.includes('loop')) carried.notices.push('loop');
  }

  private start(call: PreparedCall): void {
    const run = this.execute(call, undefined)
      .catch((err: unknown) => {
        this.failure ??= err;
      })
      .finally(() => this.running.delete(run));
    this.running.add(run);
  }

  private async runBarrier(call: PreparedCall): Promise<void> {
    if (call.control !== undefined) {
      const end = await runControl(this.task, call, this.progress, () => this.approve(call));
      if (end.outcome) this.outcome = end.outcome;
      if (end.verdict) this.progress.verdicts.push(end.verdict);
      return;
    }
    if (call.approval.need === 'edit' && this.noEdits) {
      // nobody is asked about what is not going to be done: its result says so
      return this.execute(call, undefined);
    }
    const fresh = await this.refreshed(call);
    const approved = await this.approve(fresh);
    if (!approved) return;
    await this.execute(fresh, approved);
    if (call.effect !== 'pure') this.changed = true;
  }

  /** What a person is asked about must be what would be done: an earlier call of this turn may have changed the file. */
  private async refreshed(call: PreparedCall): Promise<PreparedCall> {
    const { policy } = this.task.settings;
    if (!this.changed || call.preview === undefined) return call;
    if (isApproved(call.approval, policy) && !isJudged(call.approval, policy)) return call;
    const fresh = await this.task.host.prepareCall({ ...this.task.ref, call: call.call, policy });
    return fresh.problem === undefined ? fresh : call;
  }

  /** @returns how it was approved; undefined when it was refused, with its verdict noted */
  private async approve(call: PreparedCall): Promise<{ by: 'policy' | 'person' } | undefined> {
    if (isApproved(call.approval, this.task.settings.policy)) return { by: 'policy' };
    const { approved, verdict } = await askForApproval(this.task, call);
    throwIfCancelled();
    if (approved) await whilePaused(this.task);
    if (verdict) this.progress.verdicts.push(verdict);
    if (approved) return { by: 'person' };
    this.progress.rejected = true;
    return undefined;
  }

  private async execute(call: PreparedCall, approved: { by: 'policy' | 'person' } | undefined): Promise<void> {
    const { task, progress } = this;
    const summary = `turn ${task.carried.turns + 1} · ${call.summary}`;
    showStatus(task, 'running', summary);
    const run = await task.host.runTool.executeWithOptions({ summary }, [
      {
        ...task.ref,
        turn: progress.turn,
        call: call.call,
        tool: call.tool,
        policy: task.settings.policy,
        ...(this.noEdits ? { noEdits: true } : {}),
        ...(approved?.by === 'person' ? { approved: approvalOf(call) } : {}),
      },
    ]);
    this.count(run);
  }

  private count({ status, mistake }: ToolRun): void {
    const { carried } = this.task;
    if (mistake) carried.mistakes++;
    else if (status === 'done') carried.mistakes = 0;
  }
}

function approvalOf(call: PreparedCall): { base?: string; outside: boolean } {
  const outside = 'outside' in call.approval && call.approval.outside;
  return { outside, ...(call.base === undefined ? {} : { base: call.base }) };
}

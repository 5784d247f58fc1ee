import { Context } from '@temporalio/activity';
import type { AnswerBlock, ToolUseBlock } from '../domain/blocks.js';
import type { PreparedCall } from '../domain/calls.js';
import type { TaskEvent } from '../domain/events.js';
import { callKey } from '../domain/ids.js';
import type { CallReady, StopReason, StreamInput } from '../domain/turn.js';
import { addUsage, NO_USAGE, type Usage } from '../domain/usage.js';
import { faultPoints } from '../journal/fault-points.js';
import { Superseded } from '../journal/journal.js';
import type { NewBlock, NewResult, TurnRow, UsageRow } from '../journal/rows.js';
import { AnswerReader, type AnswerSource, type ReaderOutput } from '../model/answer-reader.js';
import { costOf, type ModelInfo } from '../model/prices.js';
import type { ModelRequest } from '../model/request.js';
import { TextProtocolReader } from '../model/text-protocol/reader.js';
import { textGrammar } from '../tools/text-tools.js';
import { todoEvents } from './call-facts.js';
import type { ActivityDeps } from './context.js';
import type { EarlyCalls } from './early-calls.js';
import { usesTextProtocol } from './form-request.js';
import { PartialWriter } from './partial-writer.js';
import { prepareBlock } from './prepare-call.js';
import { ShownText, shownText } from './shown-text.js';

/**
 * A complete call is announced when the next block begins, or after this long: by then a stop reason that says "cut"
 * would have come.
 */
const ANNOUNCE_MS = 15;
/** Characters a token has on average: for what a broken stream has cost. */
const CHARS_PER_TOKEN = 4;

/** Calls of one answer that are announced; the others come with the result, so that a run's history stays bounded. */
const MAX_ANNOUNCED = 50;

interface HeldCall {
  block: ToolUseBlock;
  call: PreparedCall;
  /** What the model says to people with it, without waiting for them. */
  say?: TaskEvent;
}

/**
 * One claimed attempt: stores blocks as they complete, announces calls to the workflow, and stops for good as soon as a
 * newer claim exists.
 */
export class Attempt {
  readonly reader: AnswerSource;
  committed = false;
  /** The provider's own id of the request. */
  requestId: string | undefined;
  private readonly superseded = new AbortController();
  private readonly partials: PartialWriter;
  /** Texts that are arriving, by block number, as people see them. */
  private readonly shown = new Map<number, ShownText>();
  /** The last complete call: held back until it is known not to be cut by the output limit. */
  private held: HeldCall | undefined;
  private timer: NodeJS.Timeout | undefined;
  private announcing: Promise<void> = Promise.resolve();
  private signalling: Promise<void> = Promise.resolve();
  private announced = 0;
  private stopReason: string | undefined;

  constructor(
    private readonly input: StreamInput,
    private readonly deps: ActivityDeps,
    private readonly early: EarlyCalls,
    readonly number: number,
    private readonly model: ModelInfo,
    private readonly request: Pick<ModelRequest, 'body' | 'inputEstimate'>,
  ) {
    const { task, turn, settings } = input;
    this.reader = usesTextProtocol(settings, model) ? new TextProtocolReader(textGrammar()) : new AnswerReader();
    this.partials = new PartialWriter(deps.journal, { task, turn, attempt: number });
  }

  /** Fires when a newer attempt has been claimed: the connection has to be dropped. */
  get lost(): AbortSignal {
    return this.superseded.signal;
  }

  lostError(err: unknown): unknown {
    return this.superseded.signal.reason ?? err;
  }

  async take(output: Exclude<ReaderOutput, { kind: 'error' | 'end' }>): Promise<void> {
    switch (output.kind) {
      case 'delta':
        return this.show(output);
      case 'begin':
        return this.announceHeld();
      case 'block':
        return this.takeBlock(output.block, output.content);
      case 'stop':
        // from here on it is known whether the last call is whole; it joins the answer at its end
        clearTimeout(this.timer);
        this.stopReason = output.reason;
        return;
    }
  }

  private show({ block, of, offset, text }: Extract<ReaderOutput, { kind: 'delta' }>): void {
    let piece = { offset, text };
    if (of === 'text') {
      const shown = this.shown.get(block) ?? new ShownText();
      this.shown.set(block, shown);
      piece = shown.push(text);
    }
    if (piece.text !== '') this.partials.add(callKey(this.input.turn, block), of, piece.offset, piece.text);
  }

  /** The answer has ended as it should. */
  async close(): Promise<TurnRow> {
    const isRefused = this.stopReason === 'refusal';
    // what the provider has stopped for good is not carried out any further than it has been
    if (isRefused) this.held = undefined;
    const whole = await this.takeLast();
    const calls = whole ? [whole] : [];
    for (const { block, text } of this.reader.unfinishedText()) await this.takeBlock(block, { type: 'text', text });
    for (const { content } of isRefused ? [] : this.reader.unfinishedCalls()) {
      if (content.type === 'tool_use') calls.push(await this.prepare(content));
    }
    const results = whole ? await this.early.takeLast(whole.call, whole.block.input) : [];
    return this.end(stopReasonOf(this.stopReason), [], calls, results);
  }

  /** Keeps what is committed or was shown as text, and says in the conversation that the answer was stopped. */
  async interrupt(marker: string): Promise<TurnRow> {
    if (this.stopReason === undefined) this.held = undefined;
    const whole = await this.takeLast();
    for (const { block, text } of this.reader.unfinishedText()) await this.takeBlock(block, { type: 'text', text });
    return this.end('interrupted', [{ type: 'text', text: marker }], whole ? [whole] : []);
  }

  /** Gives the attempt up before anything of it was committed. */
  async retract(reason: string): Promise<{ usage: Usage; cost: number }> {
    clearTimeout(this.timer);
    await this.partials.close();
    const row = this.usageRow();
    await this.deps.journal.retractTurn(this.input.turn, this.number, reason, row);
    return row;
  }

  stop(): void {
    clearTimeout(this.timer);
    this.partials.stop();
  }

  private async end(
    stop: StopReason,
    extra: AnswerBlock[],
    calls: HeldCall[],
    results: NewResult[] = [],
  ): Promise<TurnRow> {
    await this.partials.close();
    const blocks = calls.map(newBlock);
    const usage = this.usageRow();
    return this.deps.journal.closeTurn(this.input.turn, this.number, { stop, usage, blocks, extra, results });
  }

  private async takeBlock(index: number, content: AnswerBlock): Promise<void> {
    if (content.type !== 'tool_use') return this.store(index, content);
    const prepared = await this.prepare(content);
    this.held = prepared;
    if (prepared.call.problem !== undefined) return;
    // A failure surfaces where `announcing` is awaited next.
    this.timer = setTimeout(() => void this.announceHeld().catch(() => undefined), ANNOUNCE_MS);
  }

  private async prepare(content: ToolUseBlock): Promise<HeldCall> {
    const { task, turn, workspace, settings } = this.input;
    const { policy } = settings;
    const held = await prepareBlock(
      content,
      callKey(turn, content.block),
      { task, workspace, policy },
      this.deps.journal,
    );
    const text = await this.spoken(held.call);
    if (text === undefined) return held;
    return { ...held, say: { type: 'say', say: 'text', turn, attempt: this.number, block: content.block, text } };
  }

  /** The text of a call that only says something; a plan that somebody is asked about is shown with that ask. */
  private async spoken({ control }: PreparedCall): Promise<string | undefined> {
    const { mode, policy } = this.input.settings;
    const isText =
      (control?.do === 'act_respond' && mode === 'act') ||
      (control?.do === 'plan_respond' && (control.explore || policy.yolo));
    return isText ? this.deps.journal.getText(control.response) : undefined;
  }

  /** A held call turns out to be whole, or cut; either way it joins the answer at its end, without a signal. */
  private async takeLast(): Promise<HeldCall | undefined> {
    clearTimeout(this.timer);
    await this.announcing;
    const { held } = this;
    this.held = undefined;
    return held && this.stopReason === 'max_tokens' ? truncated(held) : held;
  }

  /** Commit point: from here on this answer counts, so the workflow may start the call. */
  private announceHeld(): Promise<void> {
    clearTimeout(this.timer);
    const held = this.held;
    this.held = undefined;
    if (held) this.announcing = this.announcing.then(() => this.announce(held));
    return this.announcing;
  }

  private async announce(held: HeldCall): Promise<void> {
    const events = todoEvents(held.call, held.block);
    await this.put(this.committed ? newBlock(held) : { ...newBlock(held), events: [] });
    if (held.call.problem !== undefined) return;
    const { turn } = this.input;
    await this.deps.journal.commitTurn(turn, this.number, events).catch((err: unknown) => this.giveUp(err));
    this.committed = true;
    if (this.early.take(held.call, held.block.input) || ++this.announced > MAX_ANNOUNCED) return;
    this.signal({ turn, attempt: this.number, call: held.call });
  }

  /** In order, and without holding up the stream; after a failure none is sent any more: the result carries all calls. */
  private signal(ready: CallReady): void {
    const { client, info } = Context.current();
    const { workflowId = this.input.task } = info.workflowExecution ?? {};
    const handle = client.workflow.getHandle(workflowId);
    this.signalling = this.signalling.then(async () => {
      // it may change what the calls before it read, and what this execution leaves of them runs before it as well
      if (!(await this.early.settle())) throw new Error('Calls before this one have not run.');
      const ran = this.early.tell();
      const signal = { ...ready, ...(ran.length > 0 && { ran }) };
      await faultPoints('signal of a call', () => handle.signal('callReady', signal));
    });
    this.signalling.catch(() => undefined);
  }

  private async store(index: number, content: Exclude<AnswerBlock, ToolUseBlock>): Promise<void> {
    await this.partials.finish(callKey(this.input.turn, index));
    this.shown.delete(index);
    const text =
      content.type === 'text' ? shownText(content.text) : content.type === 'thinking' ? content.thinking : '';
    const say = content.type === 'text' ? 'text' : 'reasoning';
    const { turn } = this.input;
    const event = { type: 'say', say, turn, attempt: this.number, block: index, text } as const;
    await this.put({ index, content, ...(text.trim() !== '' && { say: event }) });
  }

  private async put(block: NewBlock): Promise<void> {
    await this.deps.journal.putBlock(this.input.turn, this.number, block).catch((err: unknown) => this.giveUp(err));
  }

  private giveUp(err: unknown): never {
    if (err instanceof Superseded) this.superseded.abort(err);
    throw err;
  }

  private usageRow(): UsageRow {
    const { usage: reported, usageComplete: complete, received } = this.reader;
    const seen = reported.inputTokens + reported.cacheReadTokens + reported.cacheWriteTokens > 0;
    const { body, inputEstimate } = this.request;
    const guess = { ...NO_USAGE, inputTokens: seen || received === 0 ? 0 : inputEstimate };
    const arrived = complete ? 0 : Math.min(Math.ceil(received / CHARS_PER_TOKEN), body.max_tokens);
    const output = Math.max(reported.outputTokens, arrived);
    const usage = addUsage(guess, { ...reported, outputTokens: output });
    const { turn } = this.input;
    const cost = costOf(this.model, usage);
    return { turn, attempt: this.number, model: this.model.api, usage, cost, estimated: !complete && output > 0 };
  }
}

function newBlock({ block, call, say }: HeldCall): NewBlock {
  return { index: block.block, content: block, call, ...(say && { say }), events: todoEvents(call, block) };
}

function truncated({ block, call: { todo: _, ...call } }: HeldCall): HeldCall {
  const problem = { kind: 'truncated', message: 'The answer reached its output limit inside this call.' } as const;
  return { block: { ...block, input: {}, problem }, call: { ...call, problem: 'truncated' } };
}

function stopReasonOf(reason: string | undefined): StopReason {
  switch (reason) {
    case 'tool_use':
    case 'max_tokens':
    case 'refusal':
    case 'pause_turn':
    case 'stop_sequence':
      return reason;
    case 'model_context_window_exceeded':
      return 'max_tokens';
    default:
      return 'end_turn';
  }
}

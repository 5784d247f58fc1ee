import { shortHash } from '../domain/hash.js';
import type { AnswerBlock, StreamEvent } from './answer.js';
import { type Chunking, firstHalf, split } from './deltas.js';
import { tokensOfLength } from './prefix.js';
import { fill, fillAll, type TurnRequest } from './responders.js';
import { seal, sign } from './signature.js';
import {
  type ContentStep,
  type ErrorType,
  isContent,
  isEnd,
  type Step,
  type StopReason,
  type UsageNumbers,
} from './steps.js';

/** What the server does next. */
export type Action =
  | { do: 'event'; event: StreamEvent }
  | { do: 'wait'; ms: number }
  | { do: 'stall' }
  | { do: 'reset' }
  | { do: 'end' }
  | { do: 'fail'; type: ErrorType; message?: string }
  | { do: 'respond'; status: number; headers: Record<string, string>; html: boolean; message?: string };

export interface PlayContext {
  request: TurnRequest;
  /** Input numbers; output is counted. */
  usage: Required<Omit<UsageNumbers, 'output_tokens'>>;
  chunking: Chunking;
  /** ms between deltas, until a `pace` step says otherwise */
  paceMs: number;
  /** Makes the ids of this answer: the same conversation gets the same ids. */
  seed: string;
}

/**
 * Takes the steps of this attempt out of a turn: an end whose strikes are used up is skipped, and what was `half`
 * before it is whole.
 * @param strike whether the step at this position strikes now; asked once for each end with strikes
 */
export function stepsOfAttempt(steps: Step[], strike: (index: number, limit: number) => boolean): Step[] {
  const out: Step[] = [];
  for (const [index, step] of steps.entries()) {
    if (isEnd(step) && step.strikes !== undefined && !strike(index, step.strikes)) {
      makeWhole(out);
      continue;
    }
    out.push(step);
    if (isEnd(step)) return out;
  }
  return [...out, { step: 'finish' }];
}

function makeWhole(steps: Step[]): void {
  const at = steps.findLastIndex(isContent);
  const step = steps[at];
  if (step && 'half' in step) steps[at] = { ...step, half: false };
}

/** Turns the steps of one attempt into what happens on the wire. */
export function* play(steps: Step[], context: PlayContext): Generator<Action> {
  const writer = new Writer(context, steps);
  for (const step of steps) yield* writer.step(step);
}

class Writer {
  private started = false;
  private index = -1;
  /** How to close the block that is open. */
  private open: StreamEvent[] | undefined;
  private paceMs: number;
  private written = 0;
  private called = false;
  private readonly given: UsageNumbers;

  constructor(
    private readonly context: PlayContext,
    steps: Step[],
  ) {
    this.paceMs = context.paceMs;
    this.given = Object.assign({}, ...steps.map((step) => (step.step === 'usage' ? step.usage : {})));
  }

  *step(step: Step): Generator<Action> {
    if (isContent(step)) {
      yield* this.content(step);
      return;
    }
    switch (step.step) {
      case 'raw':
        yield event({ ...step.event, type: String(step.event.type) });
        return;
      case 'pace':
        this.paceMs = step.ms;
        return;
      case 'delay':
        yield { do: 'wait', ms: step.ms };
        return;
      case 'ping':
        yield* this.start();
        for (let i = 0; i < step.times; i++) {
          yield { do: 'wait', ms: step.everyMs };
          yield event({ type: 'ping' });
        }
        return;
      case 'usage':
        return;
      case 'finish':
        yield* this.finish(step.reason ?? (this.called ? 'tool_use' : 'end_turn'));
        return;
      case 'empty':
        yield* this.finish('end_turn');
        return;
      case 'cut':
        yield { do: 'reset' };
        return;
      case 'close':
        yield { do: 'end' };
        return;
      case 'stall':
        yield { do: 'stall' };
        return;
      case 'error':
        yield* this.start();
        yield { do: 'fail', type: step.type, ...said(step) };
        return;
      case 'status':
        yield { do: 'respond', status: step.status, headers: step.headers ?? {}, html: false, ...said(step) };
        return;
      case 'html':
        yield { do: 'respond', status: step.status, headers: {}, html: true };
        return;
      default:
        step satisfies never;
    }
  }

  private *content(step: ContentStep): Generator<Action> {
    const { request } = this.context;
    switch (step.step) {
      case 'say': {
        const text = fill(step.text, request);
        yield* this.block({ type: 'text', text: '' }, 'text_delta', 'text', text, step.half);
        return;
      }
      case 'think': {
        const text = fill(step.text, request);
        yield* this.block(
          { type: 'thinking', thinking: '', signature: '' },
          'thinking_delta',
          'thinking',
          text,
          step.half,
        );
        return;
      }
      case 'redacted':
        yield* this.block({ type: 'redacted_thinking', data: seal(step.data) });
        return;
      case 'call': {
        const json = JSON.stringify(fillAll(step.input, request));
        yield* this.toolBlock('tool_use', step, json === '{}' && !step.half ? '' : json);
        return;
      }
      case 'callraw':
        yield* this.toolBlock('tool_use', step, fill(step.json, request));
        return;
      case 'server':
        yield* this.toolBlock('server_tool_use', step, JSON.stringify(fillAll(step.input, request)));
        return;
      default:
        step satisfies never;
    }
  }

  private *toolBlock(
    type: 'tool_use' | 'server_tool_use',
    step: { name: string; id?: string; half?: boolean },
    json: string,
  ): Generator<Action> {
    this.called ||= type === 'tool_use';
    const prefix = type === 'tool_use' ? 'toolu_' : 'srvtoolu_';
    const id = step.id ?? `${prefix}${shortHash(`${this.context.seed}:${this.index + 1}`)}`;
    yield* this.block({ type, id, name: step.name, input: {} }, 'input_json_delta', 'partial_json', json, step.half);
  }

  private *block(start: AnswerBlock, delta?: string, field?: string, whole = '', half = false): Generator<Action> {
    yield* this.close();
    yield* this.start();
    const index = ++this.index;
    this.written += JSON.stringify(start).length;
    yield event({ type: 'content_block_start', index, content_block: start });
    const text = half ? firstHalf(whole) : whole;
    if (delta && field) {
      // The API begins arguments with an empty fragment, and sends nothing else for a call without arguments.
      const pieces =
        field === 'partial_json' ? ['', ...split(text, this.context.chunking)] : split(text, this.context.chunking);
      for (const [at, piece] of pieces.entries()) {
        if (at > 0 && this.paceMs > 0) yield { do: 'wait', ms: this.paceMs };
        this.written += piece.length;
        yield event({ type: 'content_block_delta', index, delta: { type: delta, [field]: piece } });
      }
    }
    this.open = [{ type: 'content_block_stop', index }];
    if (start.type === 'thinking') {
      this.open.unshift({
        type: 'content_block_delta',
        index,
        delta: { type: 'signature_delta', signature: sign(text) },
      });
    }
    if (!half) yield* this.close();
  }

  private *close(): Generator<Action> {
    for (const closing of this.open ?? []) yield event(closing);
    this.open = undefined;
  }

  private *start(): Generator<Action> {
    if (this.started) return;
    this.started = true;
    yield event({
      type: 'message_start',
      message: {
        id: `msg_${shortHash(this.context.seed)}`,
        type: 'message',
        role: 'assistant',
        model: this.context.request.body.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...this.input(), output_tokens: 1 },
      },
    });
  }

  private *finish(reason: StopReason): Generator<Action> {
    yield* this.start();
    yield* this.close();
    const output = this.given.output_tokens ?? Math.max(1, tokensOfLength(this.written));
    yield event({
      type: 'message_delta',
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { ...this.input(), output_tokens: output },
    });
    yield event({ type: 'message_stop' });
    yield { do: 'end' };
  }

  private input(): UsageNumbers {
    const { output_tokens: _output, ...given } = this.given;
    return { ...this.context.usage, ...given };
  }
}

function said({ message }: { message?: string }): { message?: string } {
  return message === undefined ? {} : { message };
}

function event(body: StreamEvent): Action {
  return { do: 'event', event: body };
}

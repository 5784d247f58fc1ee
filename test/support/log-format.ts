import { z } from 'zod';
import { ANSWER_SOURCES, ASK_KINDS } from '../../src/domain/asks.js';
import { IMAGE_TYPES } from '../../src/domain/blocks.js';
import type { Partial, StoredEvent } from '../../src/domain/events.js';
import { MODES } from '../../src/domain/modes.js';

/** The format of docs/log.md as a writer keeps it: no field more, none less. */

const count = z.int().nonnegative();
const ms = z.number().nonnegative();
const blob = z.strictObject({ blob: z.string().regex(/^[0-9a-f]{64}$/), bytes: count });
const textRef = z.union([z.strictObject({ text: z.string() }), blob]);
const attachments = z.array(
  z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('image'), name: z.string(), mediaType: z.enum(IMAGE_TYPES), blob }),
    z.strictObject({ kind: z.literal('file'), name: z.string(), blob }),
  ]),
);
const usage = z.strictObject({
  inputTokens: count,
  outputTokens: count,
  cacheWriteTokens: count,
  cacheReadTokens: count,
});
const attempt = { turn: z.string(), attempt: z.int().positive() };
const status = z.enum(['done', 'error', 'denied', 'skipped', 'interrupted', 'unknown']);
const say = <Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, shape: Shape) =>
  z.strictObject({ type: z.literal('say'), say: z.literal(kind), ...shape });
const block = { ...attempt, block: count, text: z.string() };
const begun = { turn: z.string(), call: z.string(), tool: z.string(), summary: z.string() };
const ended = {
  call: z.string(),
  tool: z.string(),
  status,
  text: z.string(),
  ms,
  change: z.strictObject({ added: count, removed: count, diff: textRef }).optional(),
};

export const SAYS = {
  task: say('task', {
    text: z.string(),
    workspace: z.string(),
    model: z.string(),
    attachments: attachments.optional(),
  }),
  user_feedback: say('user_feedback', { text: z.string(), attachments: attachments.optional() }),
  task_progress: say('task_progress', { text: z.string(), done: count, total: z.int().positive() }),
  text: say('text', block),
  reasoning: say('reasoning', block),
  api_req_started: say('api_req_started', { ...attempt, number: z.int().positive(), model: z.string() }),
  api_req_finished: say('api_req_finished', {
    ...attempt,
    stop: z.string(),
    usage,
    cost: ms,
    estimated: z.literal(true).optional(),
  }),
  error_retry: say('error_retry', {
    turn: z.string(),
    class: z.string(),
    message: z.string(),
    tries: z.int().positive(),
    maxTries: z.int().positive(),
    delayMs: ms,
  }),
  error: say('error', { slug: z.string(), text: z.string() }),
  info: say('info', { text: z.string() }),
  tool: say('tool', begun),
  command: say('command', begun),
  tool_result: say('tool_result', ended),
  command_output: say('command_output', ended),
  completion_result: say('completion_result', { text: z.string() }),
} satisfies Record<Extract<StoredEvent['event'], { type: 'say' }>['say'], z.ZodType>;

const limits = z.strictObject({
  maxTurns: count.optional(),
  maxTokens: count.optional(),
  maxCost: ms.optional(),
  maxTimeMs: ms.optional(),
  softPercent: ms.optional(),
});
const outcome = z.discriminatedUnion('outcome', [
  z.strictObject({ outcome: z.literal('completed'), result: textRef }),
  z.strictObject({
    outcome: z.literal('budget'),
    limit: z.enum(['turns', 'cost', 'tokens', 'time']),
    message: z.string(),
  }),
  z.strictObject({ outcome: z.literal('cancelled') }),
  z.strictObject({ outcome: z.literal('failed'), class: z.string(), message: z.string() }),
]);
const statuses = z.enum([
  'starting',
  'running',
  'waiting',
  'parked',
  'paused',
  'aborting',
  'no_worker',
  'completed',
  'budget',
  'cancelled',
  'failed',
]);

export const TYPES = {
  say: z.discriminatedUnion('say', [
    SAYS.task,
    SAYS.user_feedback,
    SAYS.task_progress,
    SAYS.text,
    SAYS.reasoning,
    SAYS.api_req_started,
    SAYS.api_req_finished,
    SAYS.error_retry,
    SAYS.error,
    SAYS.info,
    SAYS.tool,
    SAYS.command,
    SAYS.tool_result,
    SAYS.command_output,
    SAYS.completion_result,
  ]),
  ask: z.strictObject({
    type: z.literal('ask'),
    ask: z.strictObject({
      id: z.string(),
      kind: z.enum(ASK_KINDS),
      question: z.string().max(300),
      options: z.array(z.string()).optional(),
      detail: textRef.optional(),
      call: z.string().optional(),
      opened: ms,
      deadline: ms.optional(),
      default: z.enum(['yes', 'no']).optional(),
      remindMs: ms.optional(),
    }),
    reply: z.string(),
  }),
  ask_reminder: z.strictObject({ type: z.literal('ask_reminder'), ask: z.string(), count: z.int().positive() }),
  ask_closed: z.strictObject({
    type: z.literal('ask_closed'),
    ask: z.string(),
    by: z.enum(['person', 'default', 'cancelled']),
    answer: z.enum(['yes', 'no', 'message']),
    text: z.string().max(1_000).optional(),
    textRef: blob.optional(),
    attached: blob.optional(),
    who: z.string().optional(),
    from: z.enum(ANSWER_SOURCES).optional(),
  }),
  retract: z.strictObject({ type: z.literal('retract'), ...attempt, reason: z.string() }),
  rewound: z.strictObject({
    type: z.literal('rewound'),
    head: z.string().nullable(),
    carryOver: z.strictObject({ message: z.string(), blocks: z.enum(['all', 'results']) }).optional(),
    turn: z.string().optional(),
    said: textRef.optional(),
    kept: count,
    dropped: count,
  }),
  status: z.strictObject({
    type: z.literal('status'),
    status: statuses,
    until: ms.optional(),
    reason: z.string().optional(),
  }),
  pause: z.strictObject({ type: z.literal('pause'), paused: z.boolean() }),
  mode: z.strictObject({ type: z.literal('mode'), mode: z.enum(MODES) }),
  limits: z.strictObject({ type: z.literal('limits'), limits }),
  closed: z.strictObject({
    type: z.literal('closed'),
    outcome,
    totals: z.strictObject({ turns: count, usage, cost: ms }),
  }),
} satisfies Record<StoredEvent['event']['type'], z.ZodType>;

const envelope = z.strictObject({
  v: z.literal(1),
  task: z.string(),
  seq: z.int().positive(),
  at: z.iso.datetime({ precision: 3 }),
});

const partial = z.strictObject({
  v: z.literal(1),
  type: z.literal('partial'),
  task: z.string(),
  turn: z.string(),
  stream: z.string(),
  attempt: count,
  kind: z.enum(['text', 'reasoning', 'tool_input', 'command_output'] satisfies Partial['kind'][]),
  offset: count,
  text: z.string(),
});

/** Checks one line of JSON output that is an event or a piece of what is arriving. @throws ZodError, or Error */
export function checkLine(line: Record<string, unknown>): void {
  if (line.type === 'partial') {
    partial.parse(line);
    return;
  }
  const { v, task, seq, at, ...event } = line;
  envelope.parse({ v, task, seq, at });
  const type = TYPES[event.type as keyof typeof TYPES];
  if (!type) throw new Error(`There is no type ${String(event.type)}.`);
  type.parse(event);
}

/** What an event is, as narrowly as the format tells apart: `say text`, `ask followup`, `mode`. */
export function kindOf(line: Record<string, unknown>): string {
  if (line.type === 'say') return `say ${String(line.say)}`;
  if (line.type === 'ask') return `ask ${(line.ask as { kind: string }).kind}`;
  return String(line.type);
}

export const ALL_KINDS: readonly string[] = [
  ...Object.keys(SAYS).map((kind) => `say ${kind}`),
  ...ASK_KINDS.map((kind) => `ask ${kind}`),
  ...Object.keys(TYPES).filter((type) => type !== 'say' && type !== 'ask'),
];

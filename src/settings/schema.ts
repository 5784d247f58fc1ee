import { z } from 'zod';
import { ASK_KINDS, type AskPolicies, MIN_ASK_MS } from '../domain/asks.js';
import type { TaskLimits } from '../domain/budget.js';
import { DURATION_WORDS, readDuration } from '../domain/duration.js';
import { limitProblem } from '../domain/limits-change.js';
import { MODES, type Mode } from '../domain/modes.js';
import { APPROVALS, type Approval, type CommandRules } from '../domain/policy.js';
import { type FocusChainSettings, type TaskSettings, TOOL_PROTOCOLS } from '../domain/settings.js';

/** What one source says of a task's settings; what it leaves out is for the others to say. */
export interface PartialSettings {
  commands?: CommandRules;
  model?: string;
  planModel?: string;
  profile?: string;
  mode?: Mode;
  yolo?: boolean;
  approve?: Approval[];
  limits?: TaskLimits;
  maxConsecutiveMistakes?: number;
  strictPlanMode?: boolean;
  toolProtocol?: TaskSettings['toolProtocol'];
  focusChain?: Partial<FocusChainSettings>;
  asks?: AskPolicies;
}

const name = z.string('is a text').trim().min(1, 'must not be blank').max(200, 'has at most 200 characters');

const flag = z.boolean('is true or false');

function oneOf<const T extends readonly string[]>(words: T) {
  return z.enum(words, `is one of ${words.join(', ')}`);
}

function whole(most: number) {
  const what = `is a whole number from 1 to ${most}`;
  return z.int(what).min(1, what).max(most, what);
}

function limit(key: keyof TaskLimits) {
  return z.custom<number>((value) => limitProblem(key, value) === undefined, `is ${limitProblem(key, undefined)}`);
}

function duration(least: number, words: string) {
  const what = `is ${DURATION_WORDS}${words}`;
  return z.string(what).transform((text, ctx) => {
    const ms = readDuration(text);
    if (ms !== undefined && ms >= least) return ms;
    ctx.addIssue(what);
    return z.NEVER;
  });
}

const askPolicy = z.strictObject({
  deadline: z.exactOptional(duration(MIN_ASK_MS, ', and at least 1m')),
  default: z.exactOptional(oneOf(['yes', 'no'])),
  remind: z.exactOptional(duration(MIN_ASK_MS, ', and at least 1m')),
});

const limits = z.strictObject({
  maxTurns: z.exactOptional(limit('maxTurns')),
  maxTokens: z.exactOptional(limit('maxTokens')),
  maxCost: z.exactOptional(limit('maxCost')),
  maxTime: z.exactOptional(duration(1, '')),
  softPercent: z.exactOptional(limit('softPercent')),
});

const focusChain = z.strictObject({ enabled: z.exactOptional(flag), remindEvery: z.exactOptional(whole(1000)) });

/** All patterns of one source together, in characters: they travel with every call of the task. */
const MAX_PATTERN_CHARS = 2_000;

const patterns = z
  .array(
    z.string('is a pattern such as "npm test *"').trim().min(1, 'must not be blank'),
    'is a list such as ["npm test *"]',
  )
  .refine((list) => list.join('').length <= MAX_PATTERN_CHARS, `has at most ${MAX_PATTERN_CHARS} characters`);
const permissions = z.strictObject({
  allow: z.exactOptional(patterns),
  deny: z.exactOptional(patterns),
  allowRedirects: z.exactOptional(flag),
});
const commands = permissions.extend({ unasked: z.exactOptional(patterns) });

const ASKS = ['all', ...ASK_KINDS] as const;
const asks = z.strictObject(
  Object.fromEntries(ASKS.map((kind) => [kind, z.exactOptional(askPolicy)])) as Record<
    (typeof ASKS)[number],
    z.ZodExactOptional<typeof askPolicy>
  >,
);

const file = z.strictObject({
  model: z.exactOptional(name),
  planModel: z.exactOptional(name),
  profile: z.exactOptional(name),
  mode: z.exactOptional(oneOf(MODES)),
  yolo: z.exactOptional(flag),
  approve: z.exactOptional(z.array(oneOf(APPROVALS), 'is a list such as ["read", "edit"]')),
  limits: z.exactOptional(limits),
  maxConsecutiveMistakes: z.exactOptional(whole(1000)),
  strictPlanMode: z.exactOptional(flag),
  toolProtocol: z.exactOptional(oneOf(TOOL_PROTOCOLS)),
  focusChain: z.exactOptional(focusChain),
  commands: z.exactOptional(commands),
  asks: z.exactOptional(asks),
});
type SettingsFile = z.output<typeof file>;

type Path = readonly PropertyKey[];

/** Something wrong with a value, or with a key: then `key` says which. */
export interface SettingsProblem {
  path: Path;
  key?: string;
  message: string;
}

/** Reads the value of a settings file. */
export function readSettings(value: unknown): { settings: PartialSettings } | { problems: SettingsProblem[] } {
  const read = file.safeParse(value);
  if (read.success) return { settings: fromFile(read.data) };
  return { problems: read.error.issues.flatMap(problemsOf) };
}

/** The keys that may stand at a place of the file. */
export function keysAt(path: Path): string[] {
  const [first, ...below] = path;
  if (first === undefined) return Object.keys(file.shape);
  if (first === 'limits') return Object.keys(limits.shape);
  if (first === 'focusChain') return Object.keys(focusChain.shape);
  if (first === 'commands') return Object.keys(commands.shape);
  if (first === 'asks') return Object.keys(below.length === 0 ? asks.shape : askPolicy.shape);
  return [];
}

/** Reads rules about commands from elsewhere than a settings file. @returns what is wrong, as it follows a name */
export function readCommandRules(value: unknown): { rules: CommandRules } | { problem: string } {
  const read = permissions.safeParse(value);
  if (read.success) return { rules: read.data };
  const [problem] = read.error.issues.flatMap(problemsOf);
  const where = [...(problem?.path ?? []), ...(problem?.key === undefined ? [] : [problem.key])].map(String).join('.');
  return { problem: where === '' ? (problem?.message ?? 'is wrong') : `is wrong: "${where}" ${problem?.message}` };
}

function problemsOf(issue: z.core.$ZodIssue): SettingsProblem[] {
  if (issue.code !== 'unrecognized_keys') {
    const isObject = issue.code === 'invalid_type' && issue.expected === 'object';
    return [{ path: issue.path, message: isObject ? 'is an object: { … }' : issue.message }];
  }
  return issue.keys.map((key) => ({ path: issue.path, key, message: 'is no setting' }));
}

function fromFile({ limits, asks, ...same }: SettingsFile): PartialSettings {
  const { maxTime, ...rest } = limits ?? {};
  return {
    ...same,
    ...(limits && { limits: { ...rest, ...(maxTime !== undefined && { maxTimeMs: maxTime }) } }),
    ...(asks && { asks: policiesOf(asks) }),
  };
}

function policiesOf(asks: NonNullable<SettingsFile['asks']>): AskPolicies {
  const policies: AskPolicies = {};
  for (const kind of ASKS) {
    const given = asks[kind];
    if (!given) continue;
    const { deadline, default: otherwise, remind } = given;
    policies[kind] = {
      ...(deadline !== undefined && { deadlineMs: deadline }),
      ...(otherwise !== undefined && { default: otherwise }),
      ...(remind !== undefined && { remindMs: remind }),
    };
  }
  return policies;
}

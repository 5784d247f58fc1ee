import { ASK_KINDS, type AskKind, type AskPolicies, type AskPolicy } from '../domain/asks.js';
import type { TaskLimits } from '../domain/budget.js';
import { LIMIT_NAMES } from '../domain/limits-change.js';
import { type Approval, type ApprovalPolicy, DEFAULT_APPROVALS } from '../domain/policy.js';
import { DEFAULT_TASK_SETTINGS, type TaskSettings } from '../domain/settings.js';
import { DEFAULT_MODEL } from '../model/prices.js';
import type { PartialSettings } from './schema.js';

/** The sources of a task's settings, each going before the one above it. */
export interface Sources {
  home: PartialSettings;
  /** Untrusted: see docs/settings.md for what it may say. */
  workspace: PartialSettings;
  /** Flags, or what a program asks for. */
  request: PartialSettings;
}

export interface MergedSettings {
  settings: Omit<TaskSettings, 'profile'>;
  /** What the workspace's file has made stricter than the person asked for, each in a few words. */
  tightened: string[];
}

/** What a task is started with. */
export function mergeSettings({ home, workspace, request }: Sources): MergedSettings {
  const wanted = { ...home, ...request };
  const tightened: string[] = [];
  const note = (text: string) => tightened.push(text);
  const last = <K extends keyof PartialSettings>(key: K): PartialSettings[K] =>
    request[key] ?? workspace[key] ?? home[key];
  const planModel = last('planModel');
  const policy = policyOf({ home, workspace, request }, note);
  const strict = wanted.strictPlanMode ?? DEFAULT_TASK_SETTINGS.strictPlanMode;
  if (!strict && workspace.strictPlanMode) note('strictPlanMode is on');
  const settings: Omit<TaskSettings, 'profile'> = {
    model: last('model') ?? DEFAULT_MODEL,
    ...(planModel !== undefined && { planModel }),
    policy,
    limits: tightLimits({ ...home.limits, ...request.limits }, workspace.limits ?? {}, note),
    maxConsecutiveMistakes: fewestMistakes(wanted, workspace, note),
    mode: modeOf({ home, workspace, request }),
    strictPlanMode: strict || workspace.strictPlanMode === true,
    toolProtocol: last('toolProtocol') ?? DEFAULT_TASK_SETTINGS.toolProtocol,
    focusChain: {
      ...DEFAULT_TASK_SETTINGS.focusChain,
      ...home.focusChain,
      ...workspace.focusChain,
      ...request.focusChain,
    },
    asks: askPolicies(home.asks ?? {}, request.asks ?? {}, workspace.asks ?? {}, note),
  };
  return { settings, tightened };
}

type Note = (text: string) => void;

/** A workspace takes approvals away; those it names in addition count for nothing. */
function policyOf({ home, workspace, request }: Sources, note: Note): ApprovalPolicy {
  const wanted = { ...home, ...request };
  const asked: readonly Approval[] = [...new Set(wanted.approve ?? DEFAULT_APPROVALS)];
  const approve = asked.filter((one) => workspace.approve === undefined || workspace.approve.includes(one));
  if (approve.length < asked.length) note(`approve is ${approve.join(',') || 'none'}`);
  if (wanted.yolo && workspace.yolo === false) note('yolo is off');
  const commands = [home.commands, request.commands, workspace.commands].filter((one) => one !== undefined);
  if (workspace.commands) note('commands are held to its rules');
  return {
    yolo: (wanted.yolo ?? false) && workspace.yolo !== false,
    approve,
    ...(commands.length > 0 && { commands }),
  };
}

function tightLimits(asked: TaskLimits, workspace: TaskLimits, note: Note): TaskLimits {
  const limits: TaskLimits = { ...asked };
  for (const name of LIMIT_NAMES) {
    const most = workspace[name];
    if (most === undefined || most >= (asked[name] ?? Number.POSITIVE_INFINITY)) continue;
    limits[name] = most;
    note(name === 'maxTimeMs' ? `limits.maxTime is ${most / 1000}s` : `limits.${name} is ${most}`);
  }
  return limits;
}

function fewestMistakes(wanted: PartialSettings, workspace: PartialSettings, note: Note): number {
  const asked = wanted.maxConsecutiveMistakes ?? DEFAULT_TASK_SETTINGS.maxConsecutiveMistakes;
  const most = workspace.maxConsecutiveMistakes ?? asked;
  if (most >= asked) return asked;
  note(`maxConsecutiveMistakes is ${most}`);
  return most;
}

/** A workspace may ask for a plan, and does not lift the home's wish for one. */
function modeOf({ home, workspace, request }: Sources): TaskSettings['mode'] {
  const either = workspace.mode === 'plan' ? 'plan' : (home.mode ?? workspace.mode);
  return request.mode ?? either ?? DEFAULT_TASK_SETTINGS.mode;
}

/** For every kind: what the home says, over it the request, and both held to what the workspace says. */
function askPolicies(home: AskPolicies, request: AskPolicies, workspace: AskPolicies, note: Note): AskPolicies {
  const policies: [AskKind, AskPolicy][] = [];
  const stricter: AskKind[] = [];
  for (const kind of ASK_KINDS) {
    const asked = { ...policyFor(home, kind), ...policyFor(request, kind) };
    const policy = tightPolicy(asked, policyFor(workspace, kind));
    if (!isSame(policy, asked)) stricter.push(kind);
    policies.push([kind, policy]);
  }
  if (stricter.length > 0)
    note(`asks of ${stricter.length === ASK_KINDS.length ? 'all kinds' : stricter.join(', ')} are stricter`);
  const [[, first]] = policies as [[AskKind, AskPolicy]];
  if (policies.every(([, one]) => isSame(one, first))) return Object.keys(first).length === 0 ? {} : { all: first };
  return Object.fromEntries(policies);
}

function policyFor(policies: AskPolicies, kind: AskKind): AskPolicy | undefined {
  return policies[kind] ?? policies.all;
}

/** The shorter times count; and what a workspace says a word about is never answered "yes" by time alone. */
function tightPolicy(asked: AskPolicy, workspace: AskPolicy | undefined): AskPolicy {
  if (!workspace) return asked;
  const deadlineMs = least(asked.deadlineMs, workspace.deadlineMs);
  const remindMs = least(asked.remindMs, workspace.remindMs);
  const toNo = workspace.default !== undefined || workspace.deadlineMs !== undefined;
  const otherwise = toNo ? 'no' : asked.default;
  return {
    ...(deadlineMs !== undefined && { deadlineMs }),
    ...(otherwise !== undefined && { default: otherwise }),
    ...(remindMs !== undefined && { remindMs }),
  };
}

function least(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}

function isSame(a: AskPolicy, b: AskPolicy): boolean {
  return a.deadlineMs === b.deadlineMs && (a.default ?? 'no') === (b.default ?? 'no') && a.remindMs === b.remindMs;
}

import { resolve } from 'node:path';
import { type StartedTask, type StartRequest, TaskClient } from '../client.js';
import type { AskPolicies, AskPolicy } from '../domain/asks.js';
import type { TaskLimits } from '../domain/budget.js';
import { withoutUndefined } from '../domain/given.js';
import type { Mode } from '../domain/modes.js';
import type { Approval } from '../domain/policy.js';
import { type AttachFlags, attachedBy } from './attach-flags.js';
import type { OnAsk } from './flags.js';
import { type Io, printLine, printNote } from './io.js';
import { readPrompt } from './prompt-text.js';
import { StopSignals } from './signals.js';
import { Starting } from './starting.js';
import { viewing } from './viewing.js';

export interface RunFlags extends AttachFlags {
  workspace?: string;
  model?: string;
  profile?: string;
  yolo?: boolean;
  approve?: Approval[];
  maxTurns?: number;
  /** USD */
  maxCost?: number;
  maxTokens?: number;
  maxTime?: number;
  softLimit?: number;
  mode?: Mode;
  planModel?: string;
  protocol?: StartRequest['toolProtocol'];
  askDeadline?: number;
  askDefault?: 'yes' | 'no';
  askRemind?: number;
  /** False: settings files play no part. */
  settingsFiles?: boolean;
  detach?: boolean;
  json?: boolean;
  onAsk?: OnAsk;
  promptFile?: string;
  /** Time people have before `--on-ask default` answers, in ms. */
  defaultDelayMs?: number;
  onStart?: (started: StartedTask) => void;
  /** Whether the task can go on without this command; default true. */
  detachable?: boolean;
}

/** Starts a task and follows it. @returns the exit code */
export async function runCommand(io: Io, home: string, argument: string | undefined, flags: RunFlags): Promise<number> {
  const request = startRequest(io, await readPrompt(io, argument, flags.promptFile), flags);
  const signals = new StopSignals(io);
  const starting = new Starting(io);
  const client = await TaskClient.local({ home, env: io.env, from: 'cli', ...starting.reports });
  try {
    const started = await starting.until(client.start(request));
    const { view, follow } = viewing(io, home, client, signals, flags);
    view.head(started);
    if (started.tightened)
      printNote(io, `note: the workspace's .longhaul/settings.json tightens: ${started.tightened.join('; ')}.`);
    flags.onStart?.(started);
    if (flags.detach) {
      if (!flags.json) printLine(io, `Follow it with: ${io.command} attach ${started.task}`);
      return 0;
    }
    const { detachable, defaultDelayMs } = flags;
    return await follow(started.task, 1, withoutUndefined({ detachable, defaultDelayMs }));
  } finally {
    signals.dispose();
    await client.close();
  }
}

function startRequest(io: Io, prompt: string, flags: RunFlags): StartRequest {
  const { model, profile, mode, planModel, settingsFiles } = flags;
  const asks = askPolicies(flags);
  const given: { [K in keyof StartRequest]?: StartRequest[K] | undefined } = {
    model,
    profile,
    mode,
    planModel,
    settingsFiles,
    toolProtocol: flags.protocol,
  };
  const request: StartRequest = {
    ...withoutUndefined(given),
    ...attachedBy(io, flags),
    prompt,
    workspace: resolve(io.cwd, flags.workspace ?? '.'),
    policy: withoutUndefined({ yolo: flags.yolo, approve: flags.approve }),
    limits: limitsOf(flags),
  };
  return asks === undefined ? request : { ...request, asks };
}

function askPolicies({ askDeadline, askDefault, askRemind }: RunFlags): AskPolicies | undefined {
  const all: AskPolicy = withoutUndefined({ deadlineMs: askDeadline, default: askDefault, remindMs: askRemind });
  return Object.keys(all).length === 0 ? undefined : { all };
}

function limitsOf({ maxTurns, maxTokens, maxCost, maxTime, softLimit }: RunFlags): TaskLimits {
  return withoutUndefined({ maxTurns, maxTokens, maxCost, maxTimeMs: maxTime, softPercent: softLimit });
}
